import { expect } from 'chai'

/** What anvil and hardhat begin with. */
export const wellKnownMnemonic = 'test test test test test test test test test test test junk'

export type Parse = (text: string) => unknown

/** The error message for a text that is not a key. */
export function refusalOf(parse: Parse, text: string): string {
  try {
    parse(text)
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
  return 'it was accepted'
}

/** A test for each text that somebody may paste by mistake: what it is, the text, and what the message must say. */
export function refusesStrangeKeys(parse: Parse, strange: readonly (readonly [what: string, text: string, reason: RegExp])[]): void {
  for (const [what, text, reason] of strange) {
    it(`refuses ${what} with a message that does not repeat it`, () => {
      const message = refusalOf(parse, text)
      expect(message).to.match(reason)
      for (const part of text.split(/[\s,[\]"]+/).filter((word) => word.length > 8)) expect(message).not.to.include(part)
    })
  }
}
