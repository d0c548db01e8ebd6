import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { BookMarket, BookStream } from '../../core/contracts/index.ts'

/** What a test says of the books of `told-books`, by the kind of book. */
export interface ToldBooks {
  markets: Partial<Record<'CLOB' | 'PERP_CLOB', readonly BookMarket[]>>
  books: BookStream
}

const place = Symbol.for('sluice.test.told-books')

/** The server runs in the test's own process: what its plugin says is said by the test. */
export const sayBooks = (told: ToldBooks): void => void Object.assign(globalThis, { [place]: told })

const source = `
import { evm } from 'sluice/evm'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'

const told = () => globalThis[Symbol.for('sluice.test.told-books')]
const unused = () => {
  throw new Error('not for these tests')
}
const book = (type) => ({
  markets: async () => told().markets[type],
  books: {
    watch: (...args) => told().books.watch(...args),
    snapshot: (...args) => told().books.snapshot(...args),
  },
  orders: unused, trades: unused, balances: unused, act: unused, outcome: unused,
  positions: unused, account: unused, leverage: unused, prices: unused, fundingPayments: unused,
})

export default defineConnector({
  family: evm,
  manifest: {
    name: 'told-books', apiVersion: '1.0', version: '0.1.0', trading_type: ['CLOB', 'PERP_CLOB'],
    available_networks: [{ chain: 'ethereum', networks: ['local'] }], schema: singleRouterSchema,
  },
  create: () => ({ CLOB: book('CLOB'), PERP_CLOB: book('PERP_CLOB') }),
})
`
const defaults =
  "{ allowedSlippage: 1/100, ttl: 300, contractAddresses: { local: { routerAddress: '0x45A862bbe3001Ac4018dE978EA960f160f240A8C' } } }"

/** Writes the plugin into a folder of plugins. */
export async function inventBooks(folder: string): Promise<void> {
  await mkdir(path.join(folder, 'told-books'))
  await writeFile(path.join(folder, 'told-books', 'index.ts'), source)
  await writeFile(path.join(folder, 'told-books', 'defaults.yml'), defaults)
}
