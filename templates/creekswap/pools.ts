// The program's pools: what their accounts hold, its arithmetic to the unit, and its swap. The program here is one that solana/local has for this.
import { addressBytes, addressFrom, derivedAddress, tokenProgram, type SolanaAccountUse, type SolanaInstruction } from 'sluice/solana'
import {
  dataOf,
  vaultHolds,
  type AccountLayout,
  type Accounts,
  type AccountPools,
  type Passage,
  type Pool,
  type PoolSwap,
} from 'sluice/solana-pools'

/** A pool of two tokens whose product stays constant. */
export interface PoolState {
  readonly authority: string
  /** In the order of the pool's tokens. */
  readonly vaults: readonly [string, string]
  readonly reservesRaw: readonly [bigint, bigint]
  readonly feeBasisPoints: bigint
}

/** A tag ("pool01"), two vaults, two mints, the fee in basis points and a bump. */
const tag = Uint8Array.from([...Buffer.from('pool01'), 0, 0])
const [vaultsAt, mintsAt, feeAt, size] = [8, 72, 136, 152]
const addressSize = 32

/** What a swap of the program uses, the transfers of both tokens with it: 6,019 where it was measured. */
const swapUnits = 8_000n

/** @param addresses the pools that there are */
export function constantProduct(program: string, addresses: readonly string[]): AccountPools<PoolState> {
  const layout: AccountLayout = { owner: program, size, discriminator: tag }
  const readOwn = cachedByBytes((address, data) => ownOf(program, address, data))
  const ownIn = (address: string, account: Parameters<typeof dataOf>[0]) =>
    account?.owner === program ? readOwn(address, account.base64, () => dataOf(account, layout)) : undefined
  return {
    version: '',
    program,
    slippageErrors: [6005],
    places: () => addresses,
    parts: (address, account) => ownIn(address, account)?.vaults,
    decode(address: string, accounts: Accounts): Pool<PoolState> | null {
      const own = ownIn(address, accounts.get(address))
      if (!own) return null
      const { tokens, vaults, authority, feeBasisPoints, mintBytes, authorityBytes } = own
      const heldRaw = vaults.map((vault, index) => {
        const mint = mintBytes[index]
        return mint && vaultHolds(accounts.get(vault), { mint, owner: authorityBytes })
      })
      const [firstRaw, secondRaw] = heldRaw
      if (!firstRaw || !secondRaw) return null
      if (vaults.some((vault) => !isOfTokenProgram(vault, accounts))) return null
      return { address, tokens, state: { authority, vaults, reservesRaw: [firstRaw, secondRaw], feeBasisPoints } }
    },
    leftOut(address, accounts) {
      const own = ownIn(address, accounts.get(address))
      if (!own || own.vaults.every((vault) => isOfTokenProgram(vault, accounts))) return undefined
      return { tokens: own.tokens, why: 'its program moves tokens of the Token program alone' }
    },
    pass(pool, passage, exact, amountRaw) {
      const reserves = reservesOf(pool, passage)
      const { feeBasisPoints } = pool.state
      const otherRaw = exact === 'in' ? gotFor(amountRaw, reserves, feeBasisPoints) : paidFor(amountRaw, reserves, feeBasisPoints)
      return otherRaw === undefined ? undefined : { amountRaw: otherRaw, gasUnits: swapUnits }
    },
    spot(pool, passage) {
      const { inRaw, outRaw } = reservesOf(pool, passage)
      return { numerator: outRaw, denominator: inRaw }
    },
    fee: ({ state: { feeBasisPoints } }) => String(Number(feeBasisPoints) / Number(wholeBasisPoints)),
    spotIsBest: true,
    leastGasUnits: swapUnits,
    mostIn: (pool, passage) => most - reservesOf(pool, passage).inRaw,
    holds(pool, passage) {
      const { inRaw, outRaw } = reservesOf(pool, passage)
      return { reserveInRaw: inRaw, reserveOutRaw: outRaw }
    },
    instruction: (pool, swap) => swapInstruction(program, pool, swap),
  }
}

/** The program moves tokens by a plain Transfer, which Token-2022 refuses of a mint with a fee. */
const isOfTokenProgram = (vault: string, accounts: Accounts): boolean => accounts.get(vault)?.owner === tokenProgram

/** What never changes of a pool. */
interface Own extends Pick<PoolState, 'authority' | 'vaults' | 'feeBasisPoints'> {
  readonly tokens: readonly [string, string]
  readonly mintBytes: readonly Uint8Array[]
  readonly authorityBytes: Uint8Array
}

function ownOf(program: string, address: string, data: Buffer): Own {
  const bytesAt = (at: number) => Uint8Array.from(data.subarray(at, at + addressSize))
  const mintBytes = [bytesAt(mintsAt), bytesAt(mintsAt + addressSize)]
  const two = (at: number): [string, string] => [addressFrom(bytesAt(at)), addressFrom(bytesAt(at + addressSize))]
  const authority = derivedAddress(program, [addressBytes(address)])
  return {
    authority,
    authorityBytes: addressBytes(authority),
    vaults: two(vaultsAt),
    tokens: two(mintsAt),
    mintBytes,
    feeBasisPoints: data.readBigUInt64LE(feeAt),
  }
}

/** Its own account never changes, and to derive an address takes longer than all else. */
function cachedByBytes<T>(make: (address: string, data: Buffer) => T) {
  const cache = new Map<string, { readonly base64: string; readonly made: T | undefined }>()
  return (address: string, base64: string, read: () => Buffer | undefined): T | undefined => {
    const found = cache.get(address)
    if (found?.base64 === base64) return found.made
    const data = read()
    const made = data && make(address, data)
    cache.set(address, { base64, made })
    return made
  }
}

/** The arithmetic is rounded as the program's, and undefined where the program refuses. */
interface Reserves {
  readonly inRaw: bigint
  readonly outRaw: bigint
}

export function reservesOf({ tokens, state: { reservesRaw } }: Pool<PoolState>, { tokenIn }: Passage): Reserves {
  const [firstRaw, secondRaw] = reservesRaw
  return tokenIn === tokens[0] ? { inRaw: firstRaw, outRaw: secondRaw } : { inRaw: secondRaw, outRaw: firstRaw }
}

const wholeBasisPoints = 10_000n
const most = 2n ** 64n - 1n
const up = (a: bigint, b: bigint) => (a + b - 1n) / b

/** What comes out for exactly `paidRaw`. */
function gotFor(paidRaw: bigint, { inRaw, outRaw }: Reserves, feeBasisPoints: bigint): bigint | undefined {
  const tradedRaw = paidRaw - up(paidRaw * feeBasisPoints, wholeBasisPoints)
  if (tradedRaw <= 0n || paidRaw > most || inRaw + paidRaw > most) return undefined
  return (tradedRaw * outRaw) / (inRaw + tradedRaw)
}

/** What has to be paid for exactly `gotRaw`. */
function paidFor(gotRaw: bigint, { inRaw, outRaw }: Reserves, feeBasisPoints: bigint): bigint | undefined {
  if (gotRaw >= outRaw) return undefined
  const tradedRaw = up(inRaw * gotRaw, outRaw - gotRaw)
  const paidRaw = up(tradedRaw * wholeBasisPoints, wholeBasisPoints - feeBasisPoints)
  return paidRaw > 0n && inRaw + paidRaw <= most ? paidRaw : undefined
}

const wordSize = 8

/** How the program swaps. It enforces the bound itself. */
function swapInstruction(
  program: string,
  { address, tokens, state: { authority, vaults } }: Pool<PoolState>,
  { tokenIn, exact, amountRaw, boundRaw, owner, from, to }: PoolSwap,
): SolanaInstruction {
  const [first, second] = vaults
  const [vaultIn, vaultOut] = tokens[0] === tokenIn ? [first, second] : [second, first]
  const signer = { address: owner, writable: false, signer: true }
  const accounts = [reads(address), reads(authority), signer, ...[from, to, vaultIn, vaultOut].map(writes), reads(tokenProgram)]
  return { program, accounts, data: words(exact === 'in' ? 1n : 2n, amountRaw, boundRaw) }
}

const reads = (address: string): SolanaAccountUse => ({ address, writable: false, signer: false })
const writes = (address: string): SolanaAccountUse => ({ address, writable: true, signer: false })
/** Little-endian words of 64 bits, in base64. */
function words(...all: readonly bigint[]): string {
  const bytes = Buffer.alloc(all.length * wordSize)
  for (const [index, each] of all.entries()) bytes.writeBigUInt64LE(each, index * wordSize)
  return bytes.toString('base64')
}
