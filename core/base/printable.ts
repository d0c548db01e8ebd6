// Text from outside (plugins, nodes, tokens, certificates, remote servers) where people read it: on terminals, in logs and in errors.

/**
 * What a terminal takes for a command, what turns the direction of text, what is not seen (of no width, or only there to change another
 * character), and all that ends a line but a line feed.
 */
const unprintable = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
const isPlainAscii = (text: string): boolean => /^[\x20-\x7e\n]*$/.test(text)

/** Text whose writer cannot draw what a reader sees. Lines stay lines. */
export const printable = (text: string): string =>
  isPlainAscii(text) ? text : text.replaceAll(unprintable, (each) => (each === '\n' ? each : '\u{fffd}'))

/** The same of a name, which makes no line of its own. */
export const oneLine = (text: string): string => printable(text).replaceAll('\n', '\u{fffd}')

const maxQuoted = 100
/** Sentences for callers: some list what there is. */
const maxSaid = 1_000

/** As somebody else's word: in quotes that it cannot end, and of no great length. */
export function quoted(text: string, max = maxQuoted): string {
  const line = oneLine(text.slice(0, max)).replaceAll(/["\u{201c}-\u{201f}]/gu, "'")
  return `"${line}${text.length > max ? ' …' : ''}"`
}

/** What the process of a plugin says: nobody can take it for the server's own word. */
export const saidBy = (plugin: string, text: string): string =>
  `The plugin ${named(plugin)} says: ${quoted(
    text
      .slice(0, 2 * maxSaid)
      .replaceAll(/\s+/g, ' ')
      .trim(),
    maxSaid,
  )}`

/** A name that somebody else gave: one word of letters and digits says nothing that could be ours; anything else is quoted. */
export const named = (text: string): string => (/^\w[\w.+/:@-]{0,59}$/.test(text) ? text : quoted(text))

/** The styles that our own commands have: bold, dim, red, green, yellow, and their ends. */
// oxlint-disable-next-line no-control-regex -- it is about control characters
const ownStyle = /(\u001b\[(?:1|2|22|31|32|33|39)m)/

/** What a command prints, whatever is in it. */
export const forTerminal = (text: string): string =>
  text
    .split(ownStyle)
    .map((part, index) => (index % 2 === 1 ? part : printable(part)))
    .join('')

/** JSON that says the same, without characters that are not for terminals. */
export const plainJson = (json: string): string =>
  isPlainAscii(json) ? json : json.replaceAll(unprintable, (each) => (each === '\n' ? each : escapedUnits(each)))

const escapedUnits = (character: string): string =>
  Array.from({ length: character.length }, (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`).join('')

const maxDepth = 40

/** All text in a value of JSON, keys too. */
export function printableTexts(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return printable(value)
  if (typeof value !== 'object' || value === null || depth > maxDepth) return value
  if (Array.isArray(value)) return value.map((each: unknown) => printableTexts(each, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, each]: [string, unknown]) => [printable(key), printableTexts(each, depth + 1)]),
  )
}

/** As one word of a POSIX shell, whatever it has. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** For `JSON.stringify`, which takes no bigint. */
export const bigintAsText = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

/** A sentence of somebody else as a part of ours, which goes on after it. */
export const withoutStop = (text: string): string => text.replace(/[.\s]+$/, '')
