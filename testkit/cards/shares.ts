import { expect } from 'chai'
import type { AMMSharesAddResponse, AMMSharesPositionResponse, AMMSharesRemoveResponse } from '../../core/api/index.ts'
import { devnetTokenSymbols } from '../../core/contracts/devnet.ts'
import { fromRaw } from '../../core/base/decimal.ts'
import type { Answer } from '../client.ts'
import { expectOk, expectRefusal } from './expect.ts'
import {
  addCards,
  approve,
  atNode,
  balancesOf,
  expectRefused,
  mineAfterDeadline,
  minedInOneBlock,
  nodeCall,
  highPriorityFields,
  lowPriorityFields,
  toRaw,
  venueFields,
  waitForMined,
  withoutAllowance,
  type AddCard,
  type Card,
  type TestVenue,
} from './venue.ts'
import { addressesOf, expectNothingElseLeft, readWalletChanges } from './wallet-changes.ts'
import { addressKey } from '../../core/base/addresses.ts'

/** What every exchange of the trading type AMM_SHARES must do. */
export function sharesCards(venue: TestVenue, add: AddCard): void {
  const late = venue.shares?.noDeadline ? withoutDeadline : withDeadline
  addCards([...changeCards, ...refusalCards, ...onChainCards, late, removalAllowanceCard], () => createFixture(venue), add)
}

type Fields = Readonly<Record<string, unknown>>

interface MinedAnswer<A> {
  readonly answer: A
  readonly fill: { readonly pool: string; readonly shares: string; readonly tokens: readonly string[]; readonly amounts: readonly string[] }
  /** The cost of gas, raw. */
  readonly gasRaw: bigint
}

/** The cards' access to shares of one pool, by the HTTP interface only, as a bot's. */
interface SharesFixture {
  readonly venue: TestVenue
  /** Symbols, or addresses of tokens that are on no list. */
  readonly tokens: readonly string[]
  /** A thousandth of what the pool holds. */
  readonly amounts: readonly string[]
  readonly shareToken: string
  /** Who takes the tokens, where the connector's name does not stand for it. */
  readonly spender: string | undefined
  /** The wallet with the shares, and another one, which swaps. */
  readonly owner: string
  position(): Promise<AMMSharesPositionResponse>
  send(endpoint: 'add' | 'remove', fields?: Fields): Promise<Answer>
  /** The request must succeed and its transaction be mined without a revert. */
  add(fields?: Fields): Promise<MinedAnswer<AMMSharesAddResponse>>
  remove(fields?: Fields): Promise<MinedAnswer<AMMSharesRemoveResponse>>
  /** Sells as much of the first token into the pool as the cards add of it. */
  movePrice(fields: Fields): Promise<Answer>
  /** Raw balances of the owner. */
  balances(symbols: readonly string[]): Promise<readonly bigint[]>
  /** The request must be refused, naming the field, and send no transaction. */
  refused(endpoint: 'add' | 'remove', fields: Fields, outcome: string, field?: string): Promise<Answer>
}

async function createFixture(venue: TestVenue): Promise<SharesFixture> {
  const { client, connector } = venue
  const [other, , owner] = venue.wallets
  const { tokens, shown } = await findPool(venue, owner)
  const { shareToken, version } = shown
  const { spender: label, noAllowance } = venue.shares ?? {}
  const spender = label === undefined ? undefined : `${connector}/${label}`
  const amounts = shown.poolAmounts.map((each) => fromRaw(toRaw(each) / 1000n, each.split('.')[1]?.length ?? 0))
  for (const token of [...tokens, ...(noAllowance ? [] : [shareToken])]) await approve(venue, owner, token, { spender })
  await approve(venue, other, tokens[0] ?? '')

  const pool = { ...venueFields(venue), address: owner, tokens }
  const send: SharesFixture['send'] = (endpoint, fields = {}) =>
    client.post(`/amm/shares/${endpoint}`, { ...pool, pool: shareToken, ...(endpoint === 'add' && { amounts }), ...fields })
  const change = async (endpoint: 'add' | 'remove', fields: Fields = {}) => {
    const what = `${endpoint} ${JSON.stringify(fields)}`
    const answer = expectOk(await send(endpoint, fields), what)
    const { fill, txReceipt, reason } = await waitForMined(venue, answer.txHash)
    expect(txReceipt.status, `${what} reverted: ${reason}`).to.equal(1)
    const changes = await readWalletChanges(venue, owner, answer.txHash)
    const paid = endpoint === 'add' ? await addressesOf(venue, (fields['tokens'] as string[] | undefined) ?? tokens) : [shareToken]
    expectNothingElseLeft(changes, paid, what)
    const gainRaw = changes.gains.get(addressKey(shareToken)) ?? 0n
    const filledRaw = (endpoint === 'add' ? 1n : -1n) * toRaw(fill?.shares ?? '0')
    if (fill === undefined || gainRaw !== filledRaw)
      expect.fail(
        `${what} changed the wallet's shares by ${gainRaw}, and its fill says ${fill?.shares ?? 'nothing'}. The shares have to go to, and come from, terms.owner; look at the logs that \`sharesFill\` reads.`,
      )
    return { answer, fill, gasRaw: BigInt(txReceipt.gasUsed) * BigInt(txReceipt.effectiveGasPrice) }
  }
  const { body: config } = await client.get('/connector/config', { connector })
  const [base, quote] = tokens
  const swap = {
    ...venueFields(venue),
    address: other,
    base,
    quote,
    side: 'SELL',
    ...(config.versions?.[version] && { version }),
    // Another pool may have the better price.
    ...(venue.shares && { pool: shown.pool }),
  }
  return {
    venue,
    tokens,
    amounts,
    shareToken,
    spender,
    owner,
    send,
    position: async () => expectOk(await client.get('/amm/shares/position', pool)),
    add: (fields) => change('add', fields),
    remove: (fields) => change('remove', fields),
    movePrice: (fields) => client.post('/amm/trade', { ...swap, amount: amounts[0], ...fields }),
    async balances(symbols) {
      const balances = await balancesOf(venue, owner, symbols)
      return symbols.map((symbol) => toRaw(balances[symbol] ?? ''))
    },
    refused: (endpoint, fields, outcome, field) =>
      expectRefused(venue, owner, () => send(endpoint, fields), outcome, `${endpoint} ${JSON.stringify(fields)}`, field),
  }
}

/** The pool of the tokens that devnet.ts names, or the first of the devnet's pairs with a pool of shares; and what a wallet has of it. */
async function findPool(venue: TestVenue, address: string): Promise<{ tokens: readonly string[]; shown: AMMSharesPositionResponse }> {
  const named = venue.shares?.tokens
  if (named) {
    const fields = { ...venueFields(venue), address, tokens: named }
    return { tokens: named, shown: expectOk(await venue.client.get('/amm/shares/position', fields), 'the pool that devnet.ts names') }
  }
  const problems: string[] = []
  for (const [index, one] of devnetTokenSymbols.entries())
    for (const other of devnetTokenSymbols.slice(index + 1)) {
      const tokens = [one, other]
      const { status, body, text } = await venue.client.get('/amm/shares/position', { ...venueFields(venue), address, tokens })
      if (status === 200 && body.value !== undefined) return { tokens, shown: body }
      problems.push(`${one}-${other}: ${text}`)
    }
  return expect.fail(`None of the devnet's pairs has a pool of shares with a price:\n${problems.join('\n')}`)
}

const raws = (amounts: readonly string[]): bigint[] => amounts.map(toRaw)
/** How far two amounts may differ by the rounding of shares: a millionth. */
const isNearBelow = (actual: bigint, wanted: bigint) => actual <= wanted && (wanted - actual) * 1_000_000n <= wanted

const bad = '400 INCOMPLETE_PARAMS'

const changeCards: readonly Card<SharesFixture>[] = [
  [
    'SHARES-01 what is added is what the answer says, and the position shows it',
    async ({ add, position, owner, shareToken }) => {
      const before = await position()
      const { answer, fill } = await add()
      expect([fill.shares, fill.amounts]).to.deep.equal([answer.shares, answer.amounts])
      const after = await position()
      expect(after).to.include({ owner, shareToken, pool: answer.pool })
      expect(toRaw(after.shares) - toRaw(before.shares)).to.equal(toRaw(fill.shares))
      for (const [index, paid] of raws(fill.amounts).entries()) {
        const grown = (raws(after.amounts)[index] ?? 0n) - (raws(before.amounts)[index] ?? 0n)
        expect(isNearBelow(grown, paid), JSON.stringify({ fill, before, after })).to.equal(true)
      }
      const [own, whole] = [Number(after.shares), Number(after.totalShares)]
      expect(Number(after.poolShare)).to.be.closeTo(own / whole, 1e-12)
      // At the pool's own price each token of a constant-product pool is worth the same; in any pool all is worth no less than one token.
      expect(Number(after.value)).to.be.at.least(Number(after.amounts.at(-1)))
    },
  ],
  [
    'SHARES-02 what is removed is what the position showed, to the unit, and arrives in the wallet',
    async ({ position, remove, balances, tokens }) => {
      const { fill: part, answer } = await remove({ decreasePercent: '25' })
      expect([part.shares, part.amounts]).to.deep.equal([answer.shares, answer.amounts])
      const shown = await position()
      const before = await balances(tokens)
      const { fill } = await remove()
      expect([fill.shares, fill.amounts]).to.deep.equal([shown.shares, shown.amounts])
      const got = (await balances(tokens)).map((after, index) => after - (before[index] ?? 0n))
      expect(got).to.deep.equal(raws(shown.amounts))
      expect(toRaw((await position()).shares)).to.equal(0n)
    },
  ],
  [
    'SHARES-03 the native coin is paid where the request names it, and withdrawn',
    async ({ venue, add, remove, refused, balances, tokens, amounts }) => {
      const place = tokens.indexOf('WETH')
      if (place < 0 && venue.shares?.tokens) {
        // The coin is none of the tokens that devnet.ts names: it stands for no other.
        await refused('add', { tokens: ['ETH', ...tokens.slice(1)] }, bad, 'tokens')
        return
      }
      if (place < 0) return { notTested: 'the first pool of shares on the devnet has no WETH: fill one in devnet.ts' }
      const native = { tokens: tokens.map((each) => (each === 'WETH' ? 'ETH' : each)) }
      const coins = ['ETH', 'WETH']
      const changeOf = async (change: () => Promise<MinedAnswer<object>>) => {
        const before = await balances(coins)
        const { fill, gasRaw } = await change()
        const [coin = 0n, wrapped = 0n] = (await balances(coins)).map((after, index) => after - (before[index] ?? 0n))
        return { coin: coin + gasRaw, wrapped, moved: toRaw(fill.amounts[place] ?? '') }
      }
      const added = await changeOf(() => add({ ...native, amounts }))
      expect(added).to.deep.equal({ coin: -added.moved, wrapped: 0n, moved: added.moved })
      const removed = await changeOf(() => remove(native))
      expect(removed).to.deep.equal({ coin: removed.moved, wrapped: 0n, moved: removed.moved })
    },
  ],
]

const refusalCards: readonly Card<SharesFixture>[] = [
  [
    'SHARES-04 what the wallet may not do, or does not have, is refused before anything is signed',
    async ({ venue, refused, add, remove, owner, tokens, shareToken, spender, amounts }) => {
      await withoutAllowance(venue, owner, tokens[0] ?? '', () => refused('add', {}, '422 INSUFFICIENT_ALLOWANCE'), spender)
      await add()
      // Where none is needed, the fixture has made none, and what is removed below goes without.
      if (!venue.shares?.noAllowance)
        await withoutAllowance(venue, owner, shareToken, () => refused('remove', {}, '422 INSUFFICIENT_ALLOWANCE'), spender)
      await refused('remove', { decreasePercent: '100.1' }, bad, 'decreasePercent')
      await refused('remove', { minAmounts: amounts.map((each) => `9${each}`) }, '422 TRADE_FAILED')
      await refused('add', { minAmounts: amounts.map((each) => `9${each}`) }, '422 TRADE_FAILED')
      await refused('add', { allowedSlippage: '99/100' }, bad, 'allowedSlippage')
      await remove()
      await refused('remove', {}, '422 TRADE_FAILED')
    },
  ],
]

const boundMissing =
  'The price moved past what the request allows, and the change was carried out: the call has to have minRaw, or minSharesRaw, where the contract enforces it.'
const deadlineMissing =
  'The change was mined after its deadline, and carried out: the call has to have terms.deadline, in seconds, where the contract enforces it.'

const onChainCards: readonly Card<SharesFixture>[] = [
  [
    'SHARES-05 a price that moved further than allowed reverts on chain and costs only gas',
    async ({ venue, add, remove, send, movePrice, balances, tokens }) => {
      await add()
      for (const endpoint of ['add', 'remove'] as const) {
        let before: unknown
        const { txReceipt, fill } = await minedInOneBlock(venue, async () => {
          before = await balances(tokens)
          const { txHash } = expectOk(await send(endpoint, { allowedSlippage: '0/1', ...lowPriorityFields(venue) }))
          await atNode(venue, expectOk(await movePrice({ ...highPriorityFields(venue) })).txHash)
          return txHash
        })
        expect([endpoint, txReceipt.status, fill], boundMissing).to.deep.equal([endpoint, 0, undefined])
        expect(await balances(tokens)).to.deep.equal(before)
      }
      await remove()
    },
  ],
]

const withDeadline: Card<SharesFixture> = [
  'SHARES-06 a transaction after its deadline reverts on chain and costs only gas',
  async ({ venue, add, remove, send, balances, tokens }) => {
    if (venue.noDeadline) return
    await add()
    for (const endpoint of ['add', 'remove'] as const) {
      let before: unknown
      const { txReceipt } = await minedInOneBlock(venue, async () => {
        before = await balances(tokens)
        const { txHash, deadline } = expectOk(await send(endpoint))
        return mineAfterDeadline(venue, { txHash, deadline })
      })
      expect([endpoint, txReceipt.status], deadlineMissing).to.deep.equal([endpoint, 0])
      expect(await balances(tokens)).to.deep.equal(before)
    }
    await remove()
  },
]

/** How late such a transaction is mined. */
const lateSeconds = 600

const withoutDeadline: Card<SharesFixture> = [
  'SHARES-06 a transaction that is mined late gives its bound, and promises no deadline',
  async ({ venue, send }) => {
    for (const endpoint of ['add', 'remove'] as const) {
      let promised: { shares: string; amounts: readonly string[] } = { shares: '0', amounts: [] }
      const { txReceipt, fill, reason } = await minedInOneBlock(venue, async () => {
        const { txHash, deadline, shares, minShares, minAmounts } = expectOk(await send(endpoint))
        expect(deadline, 'devnet.ts says shares.noDeadline, and the plan has a deadline: leave one of the two out').to.equal(undefined)
        promised = { shares: endpoint === 'add' ? (minShares ?? '0') : shares, amounts: minAmounts }
        await nodeCall(venue, 'evm_increaseTime', lateSeconds)
        return txHash
      })
      expect([endpoint, txReceipt.status], reason).to.deep.equal([endpoint, 1])
      expect(toRaw(fill.shares) >= toRaw(promised.shares), JSON.stringify({ fill, promised })).to.equal(true)
      for (const [index, least] of raws(promised.amounts).entries())
        expect((raws(fill.amounts)[index] ?? 0n) >= least, JSON.stringify({ fill, promised })).to.equal(true)
    }
    expect((await send('remove')).status, 'all shares were removed').to.equal(422)
  },
]

const sayIt = '`removalAllowance` has to say who takes shares by an allowance when they are removed, and how many the wallet has.'
const proveIt =
  '`removalAllowance` has to return undefined for whatever is not shares of its own pools: prove that by the address of the token or by the factory, not by what the token says.'

/** By the token itself. */
async function balanceRaw(venue: TestVenue, token: string, owner: string): Promise<bigint> {
  // balanceOf(address)
  const data = `0x70a08231${owner.slice(2).toLowerCase().padStart(64, '0')}`
  return BigInt(String(await nodeCall(venue, 'eth_call', { to: token, data }, 'latest')))
}

/** A contract of another address that answers each view as the token does: it passes the call on. @returns its address */
async function imitated(venue: TestVenue, token: string): Promise<string> {
  const address = '0x000000000000000000000000000000000005A1E5'
  // CALLDATACOPY; STATICCALL of the token; RETURNDATACOPY; RETURN
  const code = `0x3660006000376000600036600073${token.slice(2)}5afa3d600060003e3d6000f3`
  await nodeCall(venue, 'anvil_setCode', address, code)
  return address
}

const removalAllowanceCard: Card<SharesFixture> = [
  'SHARES-07 who takes shares by an allowance when they are removed is what `removalAllowance` says, and of its own shares alone',
  async ({ venue, add, remove, send, position, owner, shareToken, spender, tokens }) => {
    const [other] = venue.wallets
    const said = async (token: string, wallet = owner) =>
      venue.removalAllowance?.(token, wallet).catch((error: unknown) => expect.fail(`${sayIt} For ${token} it throws: ${String(error)}`))
    await add()
    if (venue.shares?.noAllowance) {
      expect(await said(shareToken), 'devnet.ts says shares.noAllowance, and `removalAllowance` names somebody').to.equal(undefined)
      await remove()
      return
    }
    await withoutAllowance(
      venue,
      owner,
      shareToken,
      async () => {
        const refused = await send('remove')
        expectRefusal(refused, '422 INSUFFICIENT_ALLOWANCE', 'remove')
        const heldRaw = await balanceRaw(venue, shareToken, owner)
        const named = await said(shareToken)
        const why = `${sayIt} Removing was refused with ${refused.text}, and the wallet has ${heldRaw}; it says ${named ? `${named.spender} and ${named.sharesRaw}` : 'nothing'}.`
        if (named === undefined) return expect.fail(why)
        expect([addressKey(named.spender), named.sharesRaw], why).to.deep.equal([addressKey(refused.body.details.spender), heldRaw])
        expect((await said(shareToken, other))?.sharesRaw ?? 0n, `${sayIt} Of ${other}`).to.equal(
          await balanceRaw(venue, shareToken, other),
        )
        for (const token of [...(await addressesOf(venue, tokens)), named.spender, other, await imitated(venue, shareToken)])
          expect(await said(token), `${proveIt} It names somebody for ${token}.`).to.equal(undefined)
        // So much is enough.
        await approve(venue, owner, shareToken, { amount: (await position()).shares, spender: named.spender })
        await remove()
      },
      spender,
    )
  },
]
