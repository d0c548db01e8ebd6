import { expect } from 'chai'

export type Parse = (text: string) => unknown

/** What is said of a text that is no key. */
export function refusalOf(parse: Parse, text: string): string {
  try {
    parse(text)
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
  return 'it was taken'
}

/** A test for each text that somebody may paste by mistake: what it is, the text, what has to be said of it. */
export function refusesStrangeKeys(parse: Parse, strange: readonly (readonly [what: string, text: string, reason: RegExp])[]): void {
  for (const [what, text, reason] of strange) {
    it(`gets a sentence when it is ${what}, which does not repeat it`, () => {
      const message = refusalOf(parse, text)
      expect(message).to.match(reason)
      for (const part of text.split(/[\s,[\]"]+/).filter((word) => word.length > 8)) expect(message).not.to.include(part)
    })
  }
}
