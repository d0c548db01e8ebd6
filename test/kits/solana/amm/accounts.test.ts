import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { addressBytes, addressFrom } from '../../../../kits/solana/addresses.ts'
import {
  authority,
  constantProductProgram,
  decodeConfig,
  decodePool,
  stateOf,
} from '../../../../kits/solana/amm/constant-product/accounts.ts'
import { constantProductSwap } from '../../../../kits/solana/amm/constant-product/swap.ts'
import { dammAccountsOf, dammAuthority, dammProgram, dammStateOf, decodeDammPool } from '../../../../kits/solana/amm/damm/accounts.ts'
import { dammSwap } from '../../../../kits/solana/amm/damm/swap.ts'
import { readMintTerms } from '../../../../kits/solana/mint-extensions.ts'
import { token2022Program, tokenProgram } from '../../../../kits/solana/tokens.ts'
import type { SolanaAccount } from '../../../../kits/solana/types.ts'

const key = (name: string): string => addressFrom(createHash('sha256').update(name).digest())
const words = (size: number) => (value: bigint) => Array.from({ length: size }, (_, at) => Number((value >> BigInt(8 * at)) & 255n))
const [u16, u32, u64, u128] = [2, 4, 8, 16].map(words) as [Write, Write, Write, Write]
type Write = (value: bigint) => number[]
const zeros = (length: number): number[] => Array.from({ length }, () => 0)
const tag = (name: string) => [...createHash('sha256').update(`account:${name}`).digest().subarray(0, 8)]
const keys = (...names: readonly string[]) => names.flatMap((name) => [...addressBytes(name)])
const account = (owner: string, data: readonly number[]): SolanaAccount => ({ owner, data: Uint8Array.from(data), lamportsRaw: 1n })

// Field by field, in the order of the structs of the two sources.
const cpmmPool = [
  ...tag('PoolState'),
  ...keys(
    ...['config', 'creator', 'vault 0', 'vault 1', 'lp mint', 'mint 0', 'mint 1'].map(key),
    tokenProgram,
    token2022Program,
    key('observation'),
  ),
  254,
  3,
  9,
  6,
  5,
  // Supply; the protocol's and the fund's shares; opening time; epoch.
  ...[1n, 10n, 20n, 100n, 200n, 1_790_000_000n, 9n].flatMap(u64),
  2,
  1,
  ...zeros(6),
  ...[1_000n, 2_000n].flatMap(u64),
  ...zeros(8 * 28),
]
const cpmmConfig = [
  ...tag('AmmConfig'),
  255,
  0,
  ...u16(7n),
  ...[2_500n, 120_000n, 40_000n, 150_000_000n].flatMap(u64),
  ...keys(key('owner'), key('fund')),
  ...u64(500n),
  ...zeros(8 * 15),
]
const damm = [
  ...tag('Pool'),
  // Cliff, mode, periods, length, reduction.
  ...u64(250_000_000n),
  1,
  ...zeros(5),
  ...u16(300n),
  ...u64(20n),
  ...u64(150n),
  ...zeros(8),
  20,
  0,
  25,
  ...zeros(3),
  ...u16(2_500n),
  // Dynamic fee: most volatility, control, bin step, filter, decay, reduction, last update; then step, reference, volatility and its reference.
  1,
  ...zeros(7),
  ...u32(14_460_000n),
  ...u32(956n),
  ...[1n, 10n, 120n, 5_000n].flatMap(u16),
  ...u64(1_789_999_999n),
  ...[1_844_674_407_370_955n, 1n << 64n, 777n, 333n].flatMap(u128),
  ...u128(1n << 64n),
  ...keys(key('mint A'), key('mint B'), key('vault A'), key('vault B'), key('nobody')),
  ...zeros(32),
  ...u128(5n << 80n),
  ...u128(0n),
  ...u64(11n),
  ...u64(22n),
  ...u128(0n),
  ...[(1n << 64n) - 5n, (1n << 64n) + 5n, 1n << 64n].flatMap(u128),
  ...u64(350_000_000n),
  0,
  0,
  0,
  1,
  2,
  0,
  1,
  0,
  ...zeros(64),
  ...u128(0n),
  ...zeros(80),
  ...keys(key('creator')),
  ...u64(123n),
  ...u64(456n),
  1,
  ...zeros(7 + 24 + 384),
]

/** A change of one byte, by its place. */
const changed = (data: readonly number[], at: number): number[] => data.map((byte, index) => (index === at ? byte ^ 255 : byte))

describe("accounts of Solana's exchanges", () => {
  it("are read field by field: Raydium's pool and configuration", () => {
    expect([cpmmPool.length, cpmmConfig.length]).to.deep.equal([637, 236])
    expect(decodePool(account(constantProductProgram, cpmmPool))).to.deep.equal({
      config: key('config'),
      vaults: [key('vault 0'), key('vault 1')],
      mints: [key('mint 0'), key('mint 1')],
      programs: [tokenProgram, token2022Program],
      observation: key('observation'),
      status: 3,
      decimals: [6, 5],
      owedRaw: [1_110n, 2_220n],
      openTime: 1_790_000_000n,
      creatorFee: { isTaken: true, on: 2 },
    })
    const rates = { tradeFeeRate: 2_500n, protocolFeeRate: 120_000n, fundFeeRate: 40_000n, creatorFeeRate: 500n }
    expect(decodeConfig(account(constantProductProgram, cpmmConfig))).to.deep.equal(rates)
  })

  it("are read field by field: Meteora's pool", () => {
    expect(damm).to.have.lengthOf(1112)
    expect(decodeDammPool(account(dammProgram, damm))).to.deep.equal({
      mints: [key('mint A'), key('mint B')],
      vaults: [key('vault A'), key('vault B')],
      programs: [tokenProgram, token2022Program],
      isEnabled: true,
      activation: { point: 350_000_000n, by: 'slot' },
      feeMode: 'compounding',
      schedule: { cliff: 250_000_000n, kind: 'exponential', periods: 300, periodLength: 20n, reduction: 150n },
      dynamicFee: { volatility: 777n, binStep: 1n, control: 956n },
      protocolFeePercent: 20n,
      compoundingBasisPoints: 2_500n,
      maxFee: 990_000_000n,
      liquidity: 5n << 80n,
      sqrtPrices: { min: (1n << 64n) - 5n, max: (1n << 64n) + 5n, now: 1n << 64n },
      amountsRaw: [123n, 456n],
      owedRaw: [11n, 22n],
    })
  })

  it('with another owner, kind or length count as none', () => {
    const cases = [
      [decodePool, constantProductProgram, cpmmPool],
      [decodeConfig, constantProductProgram, cpmmConfig],
      [decodeDammPool, dammProgram, damm],
    ] as const
    for (const [decode, owner, data] of cases) {
      expect(decode(undefined)).to.equal(undefined)
      expect(decode(account(key('another program'), data))).to.equal(undefined)
      for (const at of [0, 7]) expect(decode(account(owner, changed(data, at)))).to.equal(undefined)
      for (const other of [data.slice(0, -1), [...data, 0], [], data.slice(0, 8)]) expect(decode(account(owner, other))).to.equal(undefined)
    }
  })

  it('with a kind of pool that is not known count as none', () => {
    // The kinds of activation, of fees, of tokens; the version of fees.
    for (const at of [480, 482, 483, 484, 486]) expect(decodeDammPool(account(dammProgram, changed(damm, at)))).to.equal(undefined)
    const limited = damm.map((byte, at) => (at === 16 ? 2 : byte))
    expect(decodeDammPool(account(dammProgram, limited))).not.to.have.property('schedule')
  })

  it('make no state with a vault that is frozen, of another mint or owner, or with a mint that is refused', () => {
    const pool = account(constantProductProgram, cpmmPool)
    const config = account(constantProductProgram, cpmmConfig)
    const mint = (owner: string, extension: readonly number[] = []) => {
      const base = [...zeros(44), 6, 1, ...zeros(36)]
      return account(owner, extension.length > 0 ? [...base, ...zeros(83), 1, ...extension] : base)
    }
    const vault = (of: string, program: string, state = 1, owner = authority()) =>
      account(program, [...keys(key(of), owner), ...u64(50_000n), ...zeros(36), state, ...zeros(56)])
    const vaults = [vault('mint 0', tokenProgram), vault('mint 1', token2022Program)] as const
    const mints = [mint(tokenProgram), mint(token2022Program)] as const
    const state = stateOf(pool, [config, ...vaults, ...mints])
    expect('refused' in state ? state : state.vaultsRaw).to.deep.equal([50_000n, 50_000n])
    const refused = (accounts: readonly SolanaAccount[]) => Reflect.get(stateOf(pool, accounts), 'refused') as unknown
    expect(refused([config, vault('mint 0', tokenProgram, 2), vaults[1], ...mints])).to.equal('no-vault')
    expect(refused([config, vault('mint 1', tokenProgram), vaults[1], ...mints])).to.equal('no-vault')
    expect(refused([config, vault('mint 0', tokenProgram, 1, key('thief')), vaults[1], ...mints])).to.equal('no-vault')
    expect(refused([config, vault('mint 0', token2022Program), vaults[1], ...mints])).to.equal('no-vault')
    expect(refused([pool, ...vaults, ...mints])).to.equal('no-config')
    expect(refused([config, ...vaults, mints[0], mint(token2022Program, [...u16(9n), ...u16(0n)])])).to.equal('non-transferable')
    const paused = mint(token2022Program, [...u16(26n), ...u16(33n), ...zeros(32), 1])
    const meteora = account(dammProgram, damm)
    expect(dammAccountsOf(decodeDammPool(meteora)!)).to.deep.equal(['vault A', 'vault B', 'mint A', 'mint B'].map(key))
    const theirs = [vault('mint A', tokenProgram, 1, dammAuthority), vault('mint B', token2022Program, 1, dammAuthority)] as const
    expect(dammStateOf(meteora, [...theirs, ...mints])).to.deep.equal({
      pool: decodeDammPool(meteora),
      mints: mints.map((each) => readMintTerms(each)),
    })
    for (const bad of [
      vault('mint A', tokenProgram, 2, dammAuthority),
      vault('mint B', tokenProgram, 1, dammAuthority),
      vault('mint A', tokenProgram),
      vault('mint A', token2022Program, 1, dammAuthority),
    ])
      expect(dammStateOf(meteora, [bad, theirs[1], ...mints])).to.deep.equal({ refused: 'no-vault' })
    expect(dammStateOf(meteora, [...theirs, mints[0], paused])).to.deep.equal({ refused: 'paused', mint: key('mint B') })
    expect(dammStateOf(account(dammProgram, cpmmPool), [...theirs, ...mints])).to.deep.equal({ refused: 'no-pool' })
  })

  it('are named by the swap instructions in their order, which sign for nobody but the wallet', () => {
    const places = { boundRaw: 5n, owner: key('wallet'), from: key('from'), to: key('to') }
    const pool = decodePool(account(constantProductProgram, cpmmPool))!
    const swap = constantProductSwap({ address: key('pool'), pool }, { pays: 1, exact: 'in', amountRaw: 7n }, places)
    expect(Buffer.from(swap.data, 'base64').toString('hex')).to.equal('8fbe5adac41e33de07000000000000000500000000000000')
    expect(swap.accounts.slice(4, 8).map((each) => each.address)).to.deep.equal([key('from'), key('to'), key('vault 1'), key('vault 0')])
    const back = constantProductSwap({ address: key('pool'), pool }, { pays: 1, exact: 'out', amountRaw: 7n }, places)
    // The most that is paid comes first.
    expect(Buffer.from(back.data, 'base64').toString('hex')).to.equal('37d96256a34ab4ad05000000000000000700000000000000')
    const other = dammSwap(
      { address: key('pool'), pool: decodeDammPool(account(dammProgram, damm))! },
      { pays: 0, exact: 'out', amountRaw: 7n },
      places,
    )
    expect(Buffer.from(other.data, 'base64').toString('hex')).to.equal('414b3f4ceb5b5b880700000000000000050000000000000002')
    for (const { accounts } of [swap, back, other])
      expect(accounts.filter(({ signer }) => signer).map((each) => each.address)).to.deep.equal([key('wallet')])
  })
})
