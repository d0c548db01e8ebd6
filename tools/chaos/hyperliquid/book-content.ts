/** The levels of a book in one spelling: of an exchange's words or of ours. */
export const bookContent = (buys: readonly Level[], sells: readonly Level[]): string =>
  [buys, sells].map((side) => side.map(({ price, quantity }) => `${plain(price)}x${plain(quantity)}`).join(' ')).join(' | ')

export interface Level {
  price: string
  quantity: string
}

const plain = (decimal: string) => (decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal)
