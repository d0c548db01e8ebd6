// The sums of a book as rows of a spreadsheet: one for each value.
import type { BooksLine, BooksResponse } from '../api/index.ts'
import type { CsvColumn } from '../base/csv.ts'
import type { NetworkName } from '../base/networks.ts'

const names = ['part', 'network', 'name', 'field', 'value'] as const satisfies readonly (keyof BooksLine)[]

export const bookColumns: readonly CsvColumn<BooksLine>[] = names.map((name) => [name, (line) => line[name]])

export const pairNameOf = ({ connector, base, quote }: BooksResponse['pairs'][number]): string =>
  `${connector === undefined ? '' : `${connector} `}${base}-${quote}`

export const positionNameOf = ({ connector, version, position }: BooksResponse['liquidity'][number]): string =>
  [connector, ...(version === undefined ? [] : [version]), position].join(' ')

export function bookLines(book: BooksResponse): readonly BooksLine[] {
  const { pairs, tokens, fees, perpetuals, liquidity, lacking, transactions, damaged } = book
  return [
    ...pairs.flatMap((each) => {
      const otherFees = Object.fromEntries((each.otherFees ?? []).map(({ token, amount }) => [token, amount]))
      return linesOf('trades', each, pairNameOf(each), { ...each, otherFees })
    }),
    ...tokens.flatMap((each) => linesOf('moved', each, each.symbol ?? each.token, each)),
    ...fees.flatMap((each) => linesOf('fees', each, each.feeToken ?? '', each)),
    ...perpetuals.flatMap((each) => linesOf('perpetuals', each, `${each.connector} ${each.market}`, each)),
    ...liquidity.flatMap((each) => [
      ...linesOf('liquidity', each, positionNameOf(each), each),
      ...each.tokens.flatMap((token) => linesOf('liquidity', each, `${positionNameOf(each)} ${token.symbol ?? token.token}`, token)),
    ]),
    ...linesOf('read', undefined, '', { transactions, damaged, lacking }),
  ]
}

/** Of a group of values each by itself; of lists, and of what is not known, none. */
function linesOf(part: string, of: NetworkName | undefined, name: string, fields: object): readonly BooksLine[] {
  const network = of ? `${of.chain}/${of.network}` : ''
  const line = (field: string, value: unknown): BooksLine => ({ part, network, name, field, value: String(value) })
  return Object.entries(fields).flatMap(([field, value]: [string, unknown]): BooksLine[] => {
    if (field === 'chain' || field === 'network') return []
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return [line(field, value)]
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
    return Object.entries(value).map(([inner, each]) => line(`${field}.${inner}`, each))
  })
}
