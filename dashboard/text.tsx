// Text of others (tokens, labels, plugins, nodes, requests) and amounts, as people read them.
import type { ComponentChildren } from 'preact'

/** What turns the direction of text, is not seen, or is a command: `core/base/printable.ts` has the same for terminals. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
const longest = 300

/** One line whose writer cannot draw anything but its letters, and no more than a reader takes in. */
export function plain(text: string, max = longest): string {
  const shown = text.slice(0, max).replaceAll(unseen, '\u{fffd}')
  return text.length > max ? `${shown}…` : shown
}

/** Somebody else's text: its direction ends with it. */
export const Text = ({ of, max }: { of: string; max?: number }) => <bdi>{plain(of, max)}</bdi>

const digitsKept = 8

/** A decimal with its thousands set apart, cut (not rounded) after its first digits. The whole of it is in the title. */
export function Amount({ of, unit }: { of: string | undefined; unit?: string | undefined }) {
  if (of === undefined) return <span class="none">–</span>
  return (
    <span class="amount" title={plain(unit === undefined ? of : `${of} ${unit}`)}>
      {shortDecimal(of)}
      {unit !== undefined && (
        <>
          {' '}
          <Text of={unit} max={16} />
        </>
      )}
    </span>
  )
}

export function shortDecimal(text: string): string {
  const parts = /^(-?)(\d+)(?:\.(\d*))?$/.exec(text)
  if (!parts) return plain(text, 32)
  const [, sign = '', whole = '', fraction = ''] = parts
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',')
  const zeros = whole === '0' ? (/^0*/.exec(fraction)?.[0].length ?? 0) : 0
  const kept = fraction.slice(0, zeros + Math.max(whole === '0' ? 6 : 2, digitsKept - whole.length)).replace(/0+$/, '')
  return kept === '' ? `${sign}${grouped}` : `${sign}${grouped}.${kept}`
}

/** A fraction as a percentage: its digits are moved, and nothing is rounded. */
export const Percent = ({ of }: { of: string }) => {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d*))?$/.exec(of) ?? []
  if (whole === '') return <Text of={of} max={32} />
  const [moved, rest] = [`${whole}${fraction.slice(0, 2).padEnd(2, '0')}`, fraction.slice(2)]
  return <Amount of={`${sign}${moved.replace(/^0+(?=\d)/, '')}${rest === '' ? '' : `.${rest}`}`} unit="%" />
}

/** `0x1234…cdef`, whole for a screen reader and for copying. */
export const Address = ({ of }: { of: string }) => (
  <span class="mono" title={plain(of)}>
    <bdi>{of.length > 16 ? `${plain(of.slice(0, 8))}…${plain(of.slice(-6))}` : plain(of)}</bdi>
  </span>
)

type Tone = 'bad' | 'warn' | 'good' | 'calm'

/** A state in a word; its colour says nothing that the word does not. */
export const Badge = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => <span class={`badge ${tone}`}>{children}</span>
