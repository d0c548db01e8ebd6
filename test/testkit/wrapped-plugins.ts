// Connectors that are wrong in one method: a kit's own contract, and what is changed in it. cards.rest.test.ts runs the card that has to be red.
import { readFile } from 'node:fs/promises'
import { parse, stringify } from 'yaml'
import { markets } from '../../plugins/oasis/markets.ts'
import { markets as perpMarkets } from '../../plugins/perp/index.ts'
import { v2Deployments, v3Deployments } from '../../plugins/uniswap/deployments.ts'

type Kind = 'book' | 'perp' | 'range' | 'shares'

export interface WrappedPlugin {
  readonly kind: Kind
  /** What an author may get wrong. */
  readonly what: string
  /** The changed methods; `good` has those of the kit. */
  readonly wrap: string
  /** The card that is red. */
  readonly card: string
  readonly says: RegExp
}

const withoutNeed = (need: string) => `needs: plan.needs.filter(({ is }) => is !== '${need}')`
const actWithout = (need: string) =>
  `act: async (...all) => (await good.act(...all)).map(({ plan, ...each }) => ({ ...each, plan: { ...plan, ${withoutNeed(need)} } }))`
const moveWithout = (need: string) =>
  `transferCollateral(...all) { const plan = good.transferCollateral(...all); return { ...plan, ${withoutNeed(need)} } }`
const addWithout = (need: string) => `add(...all) { const plan = good.add(...all); return { ...plan, ${withoutNeed(need)} } }`
const thief = '0x00000000000000000000000000000000000000A7'

export const wrappedPlugins: Readonly<Record<string, WrappedPlugin>> = {
  'book-no-balance': {
    kind: 'book',
    what: 'an order whose needs lack the balance',
    wrap: actWithout('balance'),
    card: 'BOOK-17',
    says: /`needs`: they have to name { is: 'balance'/,
  },
  'book-no-allowance': {
    kind: 'book',
    what: 'an order whose needs lack the allowance',
    wrap: actWithout('allowance'),
    card: 'BOOK-17',
    says: /`needs`: they have to name { is: 'allowance'/,
  },
  'book-twice': {
    kind: 'book',
    what: 'an order for twice the amount',
    wrap: `act: (owner, actions, at) => good.act(owner, actions.map((each) => each.do === 'cancel' ? each :
      { ...each, order: { ...each.order, amount: String(2 * Number(each.order.amount)) } }), at)`,
    card: 'BOOK-06',
    says: /takes \d+ of 0x\w+ from the wallet, where the request allows taking \d+ at most/,
  },
  'perp-no-balance': {
    kind: 'perp',
    what: 'a deposit whose needs lack the balance',
    wrap: moveWithout('balance'),
    card: 'PERP-09',
    says: /`needs`: they have to name { is: 'balance'/,
  },
  'perp-no-allowance': {
    kind: 'perp',
    what: 'a deposit whose needs lack the allowance',
    wrap: moveWithout('allowance'),
    card: 'PERP-09',
    says: /`needs`: they have to name { is: 'allowance'/,
  },
  'perp-without-bound': {
    kind: 'perp',
    what: 'a position without its bound',
    wrap: `open: (quote, terms) => good.open(quote, { ...terms, boundRaw: quote.order.side === 'LONG' ? 2n * terms.boundRaw : 1n })`,
    card: 'PERP-17',
    says: /`open` and `close` have to put terms\.boundRaw into the call/,
  },
  'perp-without-deadline': {
    kind: 'perp',
    what: 'a position without its deadline',
    wrap: `open: (quote, terms) => ({ ...good.open(quote, { ...terms, deadline: 10 ** 12 }), deadline: terms.deadline })`,
    card: 'PERP-18',
    says: /`open` and `close` have to put terms\.deadline into the call/,
  },
  'range-stranger': {
    kind: 'range',
    what: "a stranger's position",
    wrap: `add: (what, terms) => good.add(what, { ...terms, owner: '${thief}' })`,
    card: 'LP-01',
    says: /no position came to the wallet\. The recipient in the call of `add` has to be terms\.owner/,
  },
  'range-no-balance': {
    kind: 'range',
    what: 'liquidity whose needs lack the balance',
    wrap: addWithout('balance'),
    card: 'LP-12',
    says: /`needs`: they have to name { is: 'balance'/,
  },
  'range-no-allowance': {
    kind: 'range',
    what: 'liquidity whose needs lack the allowance',
    wrap: addWithout('allowance'),
    card: 'LP-12',
    says: /`needs`: they have to name { is: 'allowance'/,
  },
  'range-without-bound': {
    kind: 'range',
    what: 'liquidity without minimum amounts',
    wrap: `add: (what, terms) => good.add(what, { ...terms, slippage: { numerator: 99n, denominator: 100n } })`,
    card: 'LP-16',
    says: /minimum amounts that follow from terms\.slippage/,
  },
  'range-without-deadline': {
    kind: 'range',
    what: 'liquidity without its deadline',
    wrap: `add: (what, terms) => ({ ...good.add(what, { ...terms, deadline: 10 ** 12 }), deadline: terms.deadline })`,
    card: 'LP-17',
    says: /the call has to have terms\.deadline/,
  },
  'shares-stranger': {
    kind: 'shares',
    what: "a stranger's shares",
    wrap: `addShares: (addition, terms) => good.addShares(addition, { ...terms, owner: '${thief}' })`,
    card: 'SHARES-01',
    says: /changed the wallet's shares by 0.*have to go to, and come from, terms\.owner/,
  },
  'shares-no-allowance': {
    kind: 'shares',
    what: 'shares whose needs lack the allowance',
    wrap: `addShares(...all) { const plan = good.addShares(...all); return { ...plan, ${withoutNeed('allowance')} } }`,
    card: 'SHARES-04',
    says: /`needs`: they have to name { is: 'allowance'/,
  },
  'shares-without-bound': {
    kind: 'shares',
    what: 'shares without least amounts',
    wrap: `addShares: (addition, terms) => good.addShares({ ...addition, minRaw: [1n, 1n] }, terms)`,
    card: 'SHARES-05',
    says: /the call has to have minRaw/,
  },
  'shares-without-deadline': {
    kind: 'shares',
    what: 'shares without their deadline',
    wrap: `addShares: (addition, terms) => ({ ...good.addShares(addition, { ...terms, deadline: 10 ** 12 }), deadline: terms.deadline })`,
    card: 'SHARES-06',
    says: /the call has to have terms\.deadline/,
  },
  'shares-unsaid': {
    kind: 'shares',
    what: 'shares whose spender is not said',
    wrap: 'removalAllowance: undefined',
    card: 'SHARES-07',
    says: /`removalAllowance` has to say who takes shares .*it says nothing\./,
  },
  'shares-doubled': {
    kind: 'shares',
    what: 'an allowance of shares for more than the wallet has',
    wrap: `async removalAllowance(...all) { const found = await good.removalAllowance(...all); return found && { ...found, sharesRaw: 2n * found.sharesRaw } }`,
    card: 'SHARES-07',
    says: /`removalAllowance` has to say who takes shares .*the wallet has (\d+); it says 0x\w+ and (?!\1)\d+\./,
  },
  'shares-by-word': {
    kind: 'shares',
    what: 'shares by the word of a token',
    wrap: `async removalAllowance(token, owner, at) {
      const data = '0x70a08231' + owner.slice(2).toLowerCase().padStart(64, '0')
      const { results: [first, held] } = await venue.reader.read([{ to: token, data: '0x0dfe1681' }, { to: token, data }], at)
      return first.data.length === 66 ? { spender: venue.contracts.v2RouterAddress, sharesRaw: BigInt(held.data) } : undefined
    }`,
    card: 'SHARES-07',
    says: /not by what the token says\. It names somebody for 0x0+5A1E5\./,
  },
}

const manifest = (name: string, types: string, schema: string) => `manifest: {
  name: '${name}', apiVersion: '1.0', version: '0.1.0', trading_type: [${types}],
  available_networks: [{ chain: 'ethereum', networks: ['local'] }], schema: ${schema},
}`
/** A market for each: the cards leave none of the devnet's offers. */
const bookPairs: Readonly<Record<string, readonly string[] | undefined>> = Object.fromEntries(
  Object.entries(wrappedPlugins)
    .filter(([, { kind }]) => kind === 'book')
    .map(([name], index) => [name, markets['ethereum/local']?.[index]]),
)

/** `index.ts` of such a connector. */
export function sourceOf(name: string, { kind, wrap }: WrappedPlugin): string {
  const imports = `import { evm } from 'sluice/evm'
import { addressesSchema, defineConnector, singleRouterSchema, versionedSchema } from 'sluice/plugin'`
  if (kind === 'book')
    return `${imports}
import { oasis, oasisEvents, oasisRefusals } from 'sluice/oasis'
export default defineConnector({ family: evm, ${manifest(name, "'CLOB'", 'singleRouterSchema')},
  create(venue) {
    const good = oasis(venue, { markets: { 'ethereum/local': [${JSON.stringify(bookPairs[name])}] } })
    return { CLOB: { ...good, ${wrap} }, spenders: { market: good.spender }, events: oasisEvents, refusals: oasisRefusals }
  } })`
  if (kind === 'perp')
    return `${imports}
import { perp, perpEvents, perpRefusals } from 'sluice/perp'
export default defineConnector({ family: evm, ${manifest(name, "'PERP_AMM'", "addressesSchema('routerAddress', 'vaultAddress')")},
  create(venue) {
    const good = perp(venue, { markets: { 'ethereum/local': ${JSON.stringify(perpMarkets['ethereum/local'])} } })
    return { PERP_AMM: { ...good, ${wrap} }, spenders: { perp: good.spender }, events: perpEvents, refusals: perpRefusals, start: good.start }
  } })`
  if (kind === 'shares')
    return `${imports}
import { poolAMM } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'
export default defineConnector({ family: evm, ${manifest(name, "'AMM', 'AMM_SHARES'", "versionedSchema({ v2: ['v2RouterAddress'] })")},
  create(venue) {
    const deployments = { 'ethereum/local': ${JSON.stringify(v2Deployments['ethereum/local'])} }
    const v2 = uniswapV2(venue, { version: 'v2', fee: [3n, 1000n], deployments })
    const AMM = poolAMM(venue, v2)
    const good = v2.shares
    return { AMM, AMM_SHARES: { ...good, ${wrap} }, spenders: AMM.spenders }
  } })`
  const deployments = { 'ethereum/local': v3Deployments['ethereum/local'] }
  return `${imports}
import { poolAMM } from 'sluice/pools'
import { uniswapV3, v3Events } from 'sluice/uniswap-v3'
export default defineConnector({ family: evm, ${manifest(name, "'AMM', 'AMM_RANGE'", "versionedSchema({ v3: ['v3RouterAddress', 'positionManagerAddress'] })")},
  create(venue) {
    const v3 = uniswapV3(venue, { deployments: ${JSON.stringify(deployments)} })
    const AMM = poolAMM(venue, v3)
    const good = v3.range
    return { AMM, AMM_RANGE: { ...good, ${wrap} }, spenders: { ...AMM.spenders, positions: good.positionManager }, events: v3Events }
  } })`
}

/** The built-in exchange whose contracts it trades on. */
const exchanges: Readonly<Record<Kind, string>> = { book: 'oasis', perp: 'perp', range: 'uniswap', shares: 'uniswap' }

/** `defaults.yml`. */
export async function defaultsOf({ kind }: WrappedPlugin): Promise<string> {
  const { contractAddresses } = parse(await readFile(new URL(`../../plugins/${exchanges[kind]}/defaults.yml`, import.meta.url), 'utf8'))
  const { v2RouterAddress, v3RouterAddress, positionManagerAddress } = contractAddresses.local
  const local =
    kind === 'shares' ? { v2RouterAddress } : kind === 'range' ? { v3RouterAddress, positionManagerAddress } : contractAddresses.local
  const terms = { allowedSlippage: '1/100', ttl: 300 }
  return stringify(
    {
      ...terms,
      ...(kind === 'range' && { versions: { v3: terms } }),
      ...(kind === 'shares' && { versions: { v2: terms } }),
      contractAddresses: { local },
    },
    { aliasDuplicateObjects: false },
  )
}
