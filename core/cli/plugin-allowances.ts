// What spenders of a plugin may still take from the wallets, as a running server reads it from the chain, and how that is taken back.
import * as Type from 'typebox'
import { pause } from '../base/async.ts'
import { readLock, type LockedPlugin } from '../config/lock.ts'
import { devnetNetwork, type Settings } from '../config/settings.ts'
import { tradingWallets } from '../devnet/anvil.ts'
import { command } from '../base/layout.ts'
import { findPlugins } from '../plugins/index.ts'
import { listWallets } from '../keys/keystore.ts'
import { namedVariables, spenderOwners } from '../wallet/policy-files.ts'
import { ask, hasTerminal } from '../base/terminal.ts'
import { named } from '../base/printable.ts'
import { complain, isYes } from './output.ts'
import { readResponse, type ServerClient } from './server-client.ts'
import { serverOf } from './server-options.ts'
import { addressKey } from '../base/addresses.ts'
import { reasonOf } from '../base/errors.ts'

/** A spender that a wallet may have approved. */
export interface Approvable {
  readonly chain: string
  readonly network: string
  readonly address: string
  readonly spender: string
}

export interface Allowance extends Approvable {
  /** Its address. */
  readonly token: string
  readonly symbol: string
  /** A decimal string. */
  readonly amount: string
}

interface WalletName {
  readonly chain: string
  readonly address: string
}

/** Whether it has spenders on EVM chains. */
export const hasSpenders = ({ networks }: LockedPlugin): boolean =>
  Object.values(networks).some(({ spenders }) => spenders.some((each) => each.startsWith('0x')))

/** The wallets of the running server that its certificate may use. @throws Error where the server does not say */
export const walletsOf = async (server: ServerClient): Promise<readonly WalletName[]> => answer(server, '/wallet', {}, Wallets)

/** Every wallet with every spender of the plugin, on EVM chains. */
export const approvableOf = ({ networks }: LockedPlugin, wallets: readonly WalletName[]): Approvable[] =>
  Object.entries(networks).flatMap(([on, { spenders }]) => {
    const [chain = '', network = ''] = on.split('/')
    const evm = spenders.filter((each) => each.startsWith('0x'))
    const distinct = [...new Map(wallets.map((each) => [`${each.chain} ${addressKey(each.address)}`, each])).values()]
    return distinct.flatMap(({ chain: own, address }) =>
      own === chain && address.startsWith('0x') ? evm.map((spender) => ({ chain, network, address, spender })) : [],
    )
  })

/** The same record with those of its spenders alone that the next one has not, on the networks where that is so. */
export const droppedSpenders = (before: LockedPlugin, next: Pick<LockedPlugin, 'networks'>): LockedPlugin => ({
  ...before,
  networks: Object.fromEntries(
    Object.entries(before.networks).map(([on, network]) => {
      const kept = new Set(next.networks[on]?.spenders.map(addressKey))
      return [on, { ...network, spenders: network.spenders.filter((each) => !kept.has(addressKey(each))) }]
    }),
  ),
})

const Wallets = Type.Array(Type.Object({ chain: Type.String(), address: Type.String() }))
const Tokens = Type.Array(Type.Object({ symbol: Type.String(), address: Type.String() }))
const Approvals = Type.Object({ approvals: Type.Record(Type.String(), Type.String()) })
/** More than any list has on one network is asked in several requests, whose addresses have to fit into a URL. */
const tokensAtOnce = 100

/**
 * The allowances that are not 0, of the tokens in the networks' lists.
 * @throws Error where the server cannot be reached, or does not say
 */
export async function standingAllowances(server: ServerClient, all: readonly Approvable[]): Promise<Allowance[]> {
  const found: Allowance[] = []
  const lists = new Map<string, readonly { symbol: string; address: string }[]>()
  for (const each of all) {
    const { chain, network, address, spender } = each
    const on = `${chain}/${network}`
    const listed = lists.get(on) ?? (await answer(server, '/network/tokens', { chain, network }, Tokens))
    lists.set(on, listed)
    // The coin itself needs no allowance.
    const tokens = listed.filter((token) => !/^0x0{40}$/.test(token.address))
    const ask = async (some: typeof tokens): Promise<void> => {
      const tokenSymbols = some.map((token) => token.address).join(',')
      const query = { chain, network, address, spender, tokenSymbols }
      const response = await server.get('/evm/allowances', query)
      const approvals = response.status === 404 ? undefined : readResponse(Approvals, response).approvals
      if (approvals === undefined && some.length > 1) {
        // One of them is in the list and no token here.
        const half = Math.ceil(some.length / 2)
        for (const part of [some.slice(0, half), some.slice(half)]) await ask(part)
      }
      for (const { address: token, symbol } of some) {
        const amount = approvals?.[token] ?? '0'
        if (/[1-9]/.test(amount)) found.push({ ...each, token, symbol, amount })
      }
    }
    for (let from = 0; from < tokens.length; from += tokensAtOnce) await ask(tokens.slice(from, from + tokensAtOnce))
  }
  return found
}

async function answer<T extends Type.TSchema>(
  server: ServerClient,
  path: string,
  query: Readonly<Record<string, string>>,
  schema: T,
): Promise<Type.Static<T>> {
  return readResponse(schema, await server.get(path, query))
}

/** The request that takes an allowance back. */
export const revocationOf = ({ chain, network, address, spender, token }: Omit<Allowance, 'symbol' | 'amount'>) => ({
  chain,
  network,
  address,
  spender,
  token,
  amount: '0',
})

/** @returns the hash of the transaction @throws Error with what the server says */
export async function revoke(server: ServerClient, allowance: Allowance): Promise<string> {
  return readResponse(Type.Object({ txHash: Type.String() }), await server.post('/evm/approve', revocationOf(allowance))).txHash
}

/** A revocation that is on its way. */
interface SentRevocation {
  readonly allowance: Allowance
  readonly txHash: string
}

const Polled = Type.Object({ txStatus: Type.Number(), final: Type.Optional(Type.Boolean()) })
const askAgainMs = 500

/** Waits until the chain has these. @returns those that it does not have by then @throws Error where the server does not say */
export async function unminedOf(
  server: ServerClient,
  sent: readonly SentRevocation[],
  withinMs: number,
): Promise<readonly SentRevocation[]> {
  const until = performance.now() + withinMs
  let left = sent
  for (;;) {
    const polled = await Promise.all(
      left.map(async ({ allowance: { chain, network }, txHash }) => answer(server, '/network/poll', { chain, network, txHash }, Polled)),
    )
    left = left.filter((_, index) => polled[index]?.txStatus !== 1 && polled[index]?.final !== true)
    if (left.length === 0 || performance.now() >= until) return left
    await pause(askAgainMs)
  }
}

const Plugins = Type.Array(
  Type.Object({ name: Type.String(), sha256: Type.Optional(Type.String()), notTakenUp: Type.Optional(Type.String()) }),
)

/** Waits until callers can have nothing approved to the version before. @returns whether that is so */
async function isTakenUp(server: ServerClient, name: string, sha256: string): Promise<boolean> {
  const until = performance.now() + waitMs
  for (;;) {
    const running = (await answer(server, '/plugins', {}, Plugins)).find((each) => each.name === name)
    if (running === undefined || running.sha256 === sha256) return true
    if (running.notTakenUp !== undefined || performance.now() >= until) return false
    await pause(askAgainMs)
  }
}

export interface RevokeOptions {
  readonly yes?: boolean | undefined
  readonly url?: string | undefined
}

interface Revocation {
  readonly said: readonly string[]
  /**
   * After the record changed: waits until what was revoked is mined, and revokes what was approved meanwhile.
   * @param sha256 of the version that takes the place of this one
   */
  finish(sha256?: string): Promise<string[]>
}

/** How long the command waits for the chain, and for the server to take a new version up. */
const waitMs = 60_000

const noWallet = ({ networks }: LockedPlugin, dataDir: string): string =>
  `No wallet was found that could have approved them on ${Object.keys(networks).join(', ')}: neither in ${dataDir} nor, where one runs, among those that the server shows to this certificate.`

/** The record goes after this was said, and with it all that is signed for its spenders but this. */
const afterwards =
  "The signer signs that at any time for tokens of the built-in chains' lists and of conf/tokens; else put the token there, or the spender into wallet.allowedSpenders (conf/server.yml), and restart the server."

const saidOnly = (said: readonly string[]): Revocation => ({ said, finish: async () => [] })

/** Asks the running server what the wallets allow, and has it revoke that, where the operator says so. @returns what is left to do */
export async function revokeAll(name: string, record: LockedPlugin, { yes, url }: RevokeOptions, settings: Settings): Promise<Revocation> {
  const { data, devnet } = settings
  if (!hasSpenders(record)) return saidOnly(['It named no spenders: wallets approve nothing to it.'])
  const { locked, shared } = ownSpenders(name, record, settings)
  if (!hasSpenders(locked)) return saidOnly(shared)
  const local = devnet.enabled ? tradingWallets.map((address) => ({ chain: devnetNetwork.chain, address })) : []
  const known = [...listWallets(data.dir), ...local]
  let all = approvableOf(locked, known)
  let allowances: readonly Allowance[]
  let client: ServerClient
  try {
    client = serverOf(settings, { ...(url !== undefined && { url }) })
    // It may have others than are here: those of its devnet, of its own keystore.
    all = approvableOf(locked, [...known, ...(await walletsOf(client))])
    allowances = await standingAllowances(client, all)
  } catch (error) {
    return saidOnly([
      ...shared,
      `What its spenders may take could not be read: ${reasonOf(error)}`,
      'What was approved stays on the chain. For each token, ask a running server:',
      ...(all.length === 0 ? [`  POST /evm/approve with the amount 0, by each wallet. ${noWallet(locked, data.dir)}`] : []),
      ...all.map((each) => `  POST /evm/approve ${JSON.stringify(revocationOf({ ...each, token: '<token>' }))}`),
      afterwards,
    ])
  }
  if (all.length === 0) return saidOnly([...shared, `What its spenders may take was not read. ${noWallet(locked, data.dir)}`])
  const lookedAt = `Looked at ${[...new Set(all.map(({ address, chain, network }) => `${address} on ${chain}/${network}`))].join(', ')}.`
  if (allowances.length > 0) {
    complain(
      [
        lookedAt,
        'Its spenders may take:',
        ...allowances.map(
          (each) => `  ${each.amount} ${named(each.symbol)} of ${each.address} on ${each.chain}/${each.network}, by ${each.spender}`,
        ),
      ].join('\n'),
    )
    const isWanted = yes === true || (hasTerminal() && isYes(await ask('Revoke it now? It costs gas. Type yes: ')))
    if (!isWanted)
      return saidOnly([
        ...shared,
        'That was not revoked, and stays on the chain. To revoke it:',
        ...allowances.map((each) => `  POST /evm/approve ${JSON.stringify(revocationOf(each))}`),
        afterwards,
      ])
  }
  const sent = await revokeEach(client, allowances)
  const none = `Its spenders may take nothing of the tokens in the lists. ${lookedAt} Tokens beside these were not looked at.`
  return {
    said: [...shared, ...(allowances.length === 0 ? [none] : [])],
    finish: (sha256) =>
      finish({ name, client, all, sent, ...(sha256 !== undefined && { sha256 }), mayRevoke: yes === true || sent.length > 0 }),
  }
}

/** A spender that another plugin has too keeps what it may take: that plugin's trades need it. */
function ownSpenders(name: string, record: LockedPlugin, { confDir, plugins }: Settings): { locked: LockedPlugin; shared: string[] } {
  const { [name]: _, ...others } = readLock(confDir)
  const builtIn = findPlugins(plugins.folders, plugins.disabled).found.flatMap((each) => (each.builtIn ? [each.name] : []))
  const files = { confDir, plugins: [...builtIn, ...Object.keys(others)], allowedSpenders: [], tries: false }
  const ownersOf = spenderOwners({ ...files, environment: namedVariables(confDir, process.env) }, others)
  const shared: string[] = []
  const isOwn = (on: string, spender: string): boolean => {
    const owners = ownersOf(on, spender)
    if (owners.length > 0) shared.push(`What ${spender} may take on ${on} stays: it is a spender of ${owners.join(', ')} too.`)
    return owners.length === 0
  }
  const networks = Object.entries(record.networks).map(
    ([on, network]) => [on, { ...network, spenders: network.spenders.filter((each) => isOwn(on, each)) }] as const,
  )
  return { locked: { ...record, networks: Object.fromEntries(networks) }, shared }
}

async function revokeEach(client: ServerClient, allowances: readonly Allowance[]): Promise<SentRevocation[]> {
  const sent: SentRevocation[] = []
  for (const allowance of allowances) sent.push({ allowance, txHash: await revoke(client, allowance) })
  return sent
}

interface RevocationParts {
  readonly name: string
  readonly client: ServerClient
  readonly all: readonly Approvable[]
  readonly sent: readonly SentRevocation[]
  readonly sha256?: string
  /** The operator said yes. */
  readonly mayRevoke: boolean
}

/** The record is changed by then: what fails is said, and fails nothing else. */
async function finish({ name, client, all, sent, sha256, mayRevoke }: RevocationParts): Promise<string[]> {
  const said: string[] = []
  let unmined: readonly SentRevocation[] = sent
  let last: readonly SentRevocation[] = sent
  try {
    if (sha256 !== undefined && !(await isTakenUp(client, name, sha256)))
      said.push('The server has not taken the new version up: what is approved to these spenders until then stays.')
    unmined = await waitFor(client, sent)
    const isOnItsWay = (each: Allowance) => unmined.some(({ allowance }) => keyOf(allowance) === keyOf(each))
    const standing = (await standingAllowances(client, all)).filter((each) => !isOnItsWay(each))
    if (standing.length > 0 && !mayRevoke)
      said.push(
        'This was approved meanwhile, and stays on the chain. To revoke it:',
        ...standing.map((each) => `  POST /evm/approve ${JSON.stringify(revocationOf(each))}`),
      )
    const again = mayRevoke ? await revokeEach(client, standing) : []
    last = [...sent.filter(({ allowance }) => !standing.some((each) => keyOf(each) === keyOf(allowance))), ...again]
    const left = unmined
    unmined = [...left, ...again]
    unmined = [...left, ...(await waitFor(client, again))]
  } catch (error) {
    said.push(`Whether all of it is revoked is not known: ${reasonOf(error)}`)
  }
  return [
    ...last.map(({ allowance: { symbol, address }, txHash }) =>
      unmined.some((each) => each.txHash === txHash)
        ? `Not mined yet, so that the allowance stands: the revocation of ${symbol} of ${address}, ${txHash}. To see whether it is: ${command} tx show ${txHash}`
        : `Revoked ${symbol} of ${address}: ${txHash}`,
    ),
    ...said,
  ]
}

const keyOf = ({ chain, network, address, spender, token }: Allowance): string =>
  [chain, network, ...[address, spender, token].map(addressKey)].join(' ')

async function waitFor(client: ServerClient, sent: readonly SentRevocation[]): Promise<readonly SentRevocation[]> {
  if (sent.length === 0) return []
  complain(
    `Waiting until ${sent.length === 1 ? 'the revocation is' : `${sent.length} revocations are`} mined, for ${waitMs / 1000} seconds at most.`,
  )
  return unminedOf(client, sent, waitMs)
}
