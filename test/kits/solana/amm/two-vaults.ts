// Pools of two vaults, on a chain of accounts in memory.
import type { At } from '../../../../core/contracts/index.ts'
import { dataOf } from '../../../../kits/solana/amm/account-data.ts'
import { clockSysvar } from '../../../../kits/solana/accounts.ts'
import type { AccountPools } from '../../../../kits/solana/amm/protocol.ts'
import { addressBytes, addressFrom, tokenProgram, type SolanaImageData, type SolanaReader } from '../../../../kits/solana/index.ts'

export const at: At = { signal: new AbortController().signal }
const address = (digit: number) => addressFrom(new Uint8Array(32).fill(digit))
export const [program, own, first, second, third] = [1, 2, 3, 4, 5].map(address) as [string, string, string, string, string]
export const [mintA, mintB] = [6, 7].map(address) as [string, string]
export const layout = { owner: program, size: 72, discriminator: Uint8Array.from([7]) }
export const image = (owner: string, data: Uint8Array): SolanaImageData => ({
  owner,
  lamports: '1',
  base64: Buffer.from(data).toString('base64'),
})
/** A pool's own account, which names its vaults. */
export const naming = (...vaults: readonly [string, string]) =>
  image(program, Uint8Array.from([7, 0, 0, 0, 0, 0, 0, 0, ...vaults.flatMap((each) => [...addressBytes(each)])]))
export const amount = (raw: number) => image(tokenProgram, Uint8Array.from([raw]))

export type HeldAmounts = readonly [number, number]

/** A pool of two vaults of one byte each, which gives as much as is paid; none while one of them is empty. */
export const kind: AccountPools<HeldAmounts> = {
  version: 'test',
  program,
  places: () => [own],
  parts(_address, account) {
    const data = dataOf(account, layout)
    return data && [8, 40].map((from) => addressFrom(data.subarray(from, from + 32)))
  },
  decode(of, accounts) {
    const [one, other] = [...accounts.values()].slice(1).map((each) => Buffer.from(each?.base64 ?? '', 'base64')[0])
    return !accounts.get(of) || !one || !other ? null : { address: of, tokens: [mintA, mintB], state: [one, other] }
  },
  pass: (_pool, _passage, _exact, amountRaw) => ({ amountRaw, gasUnits: 1n }),
  spot: () => ({ numerator: 1n, denominator: 1n }),
  fee: () => '0',
  instruction: (pool, { from, to }) => ({
    program,
    accounts: [from, to].map((each) => ({ address: each, writable: true, signer: false })),
    data: Buffer.from(pool.state).toString('base64'),
  }),
}

const clock = image('Sysvar1111111111111111111111111111111111111', new Uint8Array(40).fill(1, 32, 33))

/** What nodes have. */
export function createAccounts() {
  const chain = new Map<string, SolanaImageData>()
  const asked: { readonly addresses: readonly string[]; readonly bytes: number }[] = []
  const read = (addresses: readonly string[], length = Infinity) => {
    const accounts = addresses.map((each) => {
      const found = each === clockSysvar ? clock : chain.get(each)
      return found && { owner: found.owner, lamportsRaw: 1n, data: Buffer.from(found.base64, 'base64').subarray(0, length) }
    })
    asked.push({ addresses, bytes: accounts.reduce((sum, each) => sum + (each?.data.length ?? 0), 0) })
    return accounts
  }
  const reader: SolanaReader = {
    nativeCurrency: { symbol: 'SOL', address: '1'.repeat(32), decimals: 9, native: true },
    accounts: async (addresses) => ({ head: { number: 9n }, accounts: read(addresses) }),
    sets: async (sets) => {
      const accounts = read(sets.flat())
      let next = 0
      return { head: { number: 9n }, sets: sets.map(({ length }) => accounts.slice(next, (next += length))) }
    },
    start: async (of, length) => read([of], length)[0],
  }
  return { chain, asked, reader }
}
