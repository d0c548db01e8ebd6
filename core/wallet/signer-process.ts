// The signer's process: the only one that opens keys and signs. It loads no plugin and talks to its parent only.
import { isDeepStrictEqual } from 'node:util'
import { lockFile } from '../config/lock.ts'
import { readStopFiles } from '../config/stop-files.ts'
import type { Stop, StopScope } from '../config/stops.ts'
import { command } from '../base/layout.ts'
import { followFile, watchFile } from '../base/whole-file.ts'
import type { LockedWallet, SigningWallet } from '../keys/key-source.ts'
import { moveFormerFolders } from '../keys/keystore-files.ts'
import { openKeySource } from '../keys/sources.ts'
import { addressBytesOf, isWellKnown } from '../keys/curves.ts'
import { openLimiter, type Limiter } from './limits/limiter.ts'
import { checkEvmRequest, sandboxDigest } from './policy-evm.ts'
import { checkStops } from './policy-stops.ts'
import { Refusal, rulesOfPolicy, type SignerRules } from './policy.ts'
import { createSealKeys } from './lock-seal.ts'
import { curveOf } from './release-policy.ts'
import { takeSecret } from '../keys/passphrase.ts'
import { keptOwnPolicy, readOwnPolicy, steadyMs, takeUpLock, type OwnPolicy, type OwnPolicyOptions } from './own-policy.ts'
import {
  isSignRequest,
  maxFailureText,
  readToSigner,
  secretBytesOf,
  stopOf,
  type FromSigner,
  type OpenMessage,
  type SignRequest,
  type ToSigner,
} from './signer-messages.ts'
import { serveParent, tellParent } from './supervisor.ts'
import { newAccountOf, type NewAccount } from './new-accounts.ts'
import { addSentKey } from './add-key.ts'
import type { AddKeyMessage } from './add-key-message.ts'
import { addressKey, isSameAddress } from '../base/addresses.ts'
import { networkPath } from '../base/networks.ts'

interface OpenState {
  readonly wallets: ReadonlyMap<string, SigningWallet>
  readonly locked: ReadonlyMap<string, LockedWallet>
}

let state: OpenState | undefined
let rules: SignerRules = new Map()
/** The versions of plugins that it signs for: hashes of their files. */
let versions: readonly string[] = []
/** Of the versions that were replaced a short time ago. */
let earlierRules: readonly { readonly sha256: string; readonly untilMs: number; readonly rules: SignerRules }[] = []
interface Own {
  readonly options: OwnPolicyOptions
  state: OwnPolicy['state']
}
/** Goes by a sluice.lock that changed. Settles when what is asked from now on is held against it. */
let takeUp: (() => Promise<void>) | undefined
/** What the server told of the store. */
let told: readonly Stop[] = []
let stopFiles: () => readonly Stop[] = () => []
/** Of the networks that are not local. */
let publicChainIds: ReadonlySet<bigint> = new Set()
let tries = false
/** Where clients may send keys: the folder of the keystore. */
let intake: { readonly dataDir: string } | undefined
/** What was read from the pipe last: it is in the order of the messages. */
let lastRead: Promise<unknown> = Promise.resolve()
let limiter: Limiter | undefined
let isOpen = false
/** How often it looks at sluice.lock; and before each signature. */
const lookMs = 2_000

const tell = (message: FromSigner): void => tellParent(message)

async function open({ keySources, dataDir, files, read, acceptsKeys, ...lengths }: OpenMessage): Promise<void> {
  if (isOpen) return
  isOpen = true
  stopFiles = () => readStopFiles(dataDir, readStopLine)
  const { passphrase, ofSeals } = await takeSecrets(lengths, acceptsKeys === true)
  const sealKeys = ofSeals === undefined ? undefined : createSealKeys(ofSeals)
  const options = { files, dataDir, keySources, sealKeys }
  const lock = watchFile(lockFile(files.confDir))
  const first = read === undefined ? await readOwnPolicy(options) : keptOwnPolicy(files, read)
  // What was kept is of an earlier lock, maybe.
  const own: Own = { options, state: first.state }
  takeUp = followFile(lock, () => readAgain(own))
  goBy(first)
  limiter = await openLimiter({ limits: first.state.limits, symbols: first.state.symbols, dataDir, onProblem: tellCount })
  const problem = limiter.problem()
  if (problem !== undefined) tellCount(problem)
  tellProblems(first.problems)
  if (read !== undefined) lock.forget()
  setInterval(() => void takeUp?.(), lookMs).unref()
  tries = files.tries
  // Code that is tried has not been allowed by anybody: keys that are worth something stay away from it.
  if (acceptsKeys === true && !tries && keySources.some(({ kind }) => kind === 'keystore')) intake = { dataDir }
  const chains = new Set([...rules.keys()].map((name) => name.split('/')[0] ?? ''))
  for (const left of moveFormerFolders(dataDir, chains)) tell({ type: 'log', level: 'error', fields: {}, message: left })
  const opened = await Promise.all(keySources.map((each) => openKeySource(each, { dataDir, passphrase, curveOf })))
  const wallets = opened.flatMap((source) => source.wallets)
  const locked = opened.flatMap((source) => source.locked)
  state = {
    wallets: new Map(wallets.map((wallet) => [walletKey(wallet), wallet])),
    locked: new Map(locked.map((wallet) => [walletKey(wallet), wallet])),
  }
  tell({
    type: 'ready',
    processId: process.pid,
    wallets: wallets.map(describeWallet),
    problems: opened.flatMap((source) => source.problems),
    isRefused: opened.some((source) => source.wallets.length === 0 && source.problems.length > 0),
  })
}

type SecretLengths = Pick<OpenMessage, 'passphraseBytes' | 'sealBytes'>

/** The seals have a passphrase of their own, or the keystore's. */
async function takeSecrets(
  lengths: SecretLengths,
  more: boolean,
): Promise<{ readonly passphrase?: Uint8Array; readonly ofSeals?: Uint8Array }> {
  const { passphraseBytes = 0, sealBytes = 0 } = lengths
  const secret = secretBytesOf(lengths) === 0 ? undefined : await takeSecret(secretBytesOf(lengths), { more })
  if (secret === undefined) return {}
  const passphrase = secret.subarray(0, passphraseBytes)
  return {
    ...(passphraseBytes > 0 && { passphrase }),
    ofSeals: sealBytes > 0 ? secret.subarray(passphraseBytes) : passphrase,
  }
}

/** What it reads is kept by the keeper, beside it. */
function goBy({ policy, earlier, state: next }: OwnPolicy): void {
  const before = earlier.map((each) => ({ ...each, rules: rulesOfPolicy(each.policy) }))
  rules = rulesOfPolicy(policy)
  earlierRules = before
  versions = Object.values(next.records).map(({ sha256 }) => sha256)
  publicChainIds = new Set([...rules.values()].flatMap((each) => (each.keys === 'secp256k1' && !each.local ? [each.chainId] : [])))
  tellParent({ type: 'read', state: next })
}

/** Whether the count can be used: of wallets with limits. */
function tellCount(problem: string | undefined): void {
  tell({ type: 'count', ...(problem !== undefined && { problem }) })
  if (problem === undefined)
    tell({ type: 'log', level: 'info', fields: {}, message: 'The count can be written again: wallets with limits sign' })
  else tell({ type: 'log', level: 'error', fields: { problem }, message: 'Nothing is signed for wallets with limits' })
}

let lastTold = ''

/** What is wrong is said once, however often it is read again. */
function tellProblems(problems: OwnPolicy['problems']): void {
  const told = problems.map(({ name, problem }) => `${name}: ${problem}`).join('\n')
  for (const { name, problem, remedy } of told === lastTold ? [] : problems)
    tell({
      type: 'log',
      level: 'error',
      fields: { plugin: name, problem, remedy },
      message:
        name === 'sluice.lock'
          ? `The signer does not take up sluice.lock: ${problem}`
          : `The signer does not sign for the plugin ${name}: ${problem}`,
    })
  lastTold = told
}

/** @returns whether the lock could be read */
async function readAgain(now: Own): Promise<boolean> {
  try {
    const next = await takeUpLock(now.options, now.state)
    tellProblems(next.problems)
    if (next.isUnread) return false
    const isSame = isDeepStrictEqual(next.state.records, now.state.records)
    goBy(next)
    now.state = next.state
    if (!isSame)
      tell({ type: 'log', level: 'info', fields: { plugins: Object.keys(next.state.records) }, message: 'The signer took up sluice.lock' })
    return true
  } catch (error) {
    const problem = `error: ${describe(error)}`
    if (problem !== lastTold)
      tell({
        type: 'log',
        level: 'error',
        fields: { error: describe(error) },
        message: 'The signer could not take up sluice.lock: what was in force stays so',
      })
    lastTold = problem
    return false
  }
}

/** What the server may know of a wallet: all but the key. */
const describeWallet = ({ chain, address, label, devnet }: SigningWallet) => ({
  chain,
  address,
  ...(label === undefined ? {} : { label }),
  ...(devnet ? { devnet } : {}),
})

const looksLikeAddress = /^(0x[0-9a-f]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/i

/** A client is the server's to hold: the signer does not know who asks. An address that is none of its keys may be mistyped. */
function readStopLine(line: string): StopScope | 'ignored' | undefined {
  if (!looksLikeAddress.test(line)) return /^[\x21-\x7e]{1,256}$/.test(line) ? 'ignored' : undefined
  const all = state ? [...state.wallets.values(), ...state.locked.values()] : []
  return all.some(({ address }) => isSameAddress(address, line)) ? { of: 'wallet', subject: line } : undefined
}

const walletKey = ({ chain, address }: { chain: string; address: string }): string => `${chain}/${addressKey(address)}`

/** @returns the signature, in the form of its curve. @throws Refusal */
async function sign(request: unknown): Promise<Uint8Array> {
  if (!isSignRequest(request)) throw new Refusal('the request is malformed')
  if (!state) throw new Refusal('the keys are not open yet', 'SERVICE_UNINITIALIZED')
  await takeUp?.()
  try {
    const wallet = findWallet(request, state)
    const { draft } = request
    const accountOf = async (id: string) => newAccountOf(wallet, networkPath(request), id)
    if (draft.scheme === 'new-account') return twice(addressBytesOf((await accountOf(draft.id)).address))
    const newAccounts = draft.scheme === 'ed25519' ? await Promise.all((draft.newAccounts ?? []).map(accountOf)) : []
    const allowed = await checkRequest(
      request,
      wallet,
      newAccounts.map((each) => each.address),
    )
    const signsAs = draft.scheme === 'ed25519' ? draft.signsAs : undefined
    // Without the wallet's own signature, which is counted, that of a new account is worth nothing.
    if (signsAs !== undefined) return signAs(newAccounts[signsAs], allowed)
    await reserve(request)
    return await wallet.sign(allowed)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { chain, network, address, plugin } = request
    const refusal = new Refusal(
      error.message + (isGone(plugin) ? `; the version ${plugin} of its plugin is not in sluice.lock any more` : ''),
      error.errorName,
      error.details,
    )
    logRefusal({ chain, network, address, ...(plugin !== undefined && { plugin }), reason: refusal.message })
    throw refusal
  }
}

/** In one second. Who asks for more than that, or with long texts, fills no disk: the count of what was signed may be on it. */
const loggedRefusals = 20
const maxLogged = 1_000
let refusals = { second: 0, count: 0 }

function logRefusal(fields: Readonly<Record<string, string>>): void {
  const second = Math.floor(performance.now() / 1000)
  if (second !== refusals.second) {
    const more = refusals.count - loggedRefusals
    if (more > 0) tell({ type: 'log', level: 'warn', fields: { requests: more }, message: 'The signer refused more than is logged singly' })
    refusals = { second, count: 0 }
  }
  refusals.count += 1
  if (refusals.count > loggedRefusals) return
  const short = Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, text.slice(0, maxLogged)]))
  tell({ type: 'log', level: 'warn', fields: short, message: 'The signer refused to sign' })
}

function signAs(account: NewAccount | undefined, message: Uint8Array): Uint8Array {
  if (!account) throw new Refusal('the message has no such new account')
  return account.sign(message)
}

/** Every answer is as long as a signature. */
const twice = (bytes: Uint8Array): Uint8Array => Uint8Array.of(...bytes, ...bytes)

/** Takes a key that a client sent. Nothing that is told of it has the key. */
async function addKey({ id, chains, curve, keyBytes, passphraseBytes = 0 }: AddKeyMessage): Promise<void> {
  const secret = await takeSecret(passphraseBytes + keyBytes, { more: true })
  try {
    if (!secret || !intake || !state) throw new Refusal('keys of clients are not accepted here')
    if (passphraseBytes === 0)
      throw new Refusal(
        "the keystore's passphrase is not here: name its file in SLUICE_WALLET_PASSPHRASE_FILE, and restart the server",
        'SERVICE_UNINITIALIZED',
      )
    const { address, added } = await addSentKey({
      ...intake,
      chains,
      curve,
      text: new TextDecoder().decode(secret.subarray(passphraseBytes)),
      passphrase: secret.subarray(0, passphraseBytes),
      isOpen: (wallet) => state?.wallets.has(walletKey(wallet)) === true,
    })
    const wallets = new Map([...state.wallets, ...added.map((wallet) => [walletKey(wallet), wallet] as const)])
    state = { ...state, wallets }
    tell({
      type: 'key-added',
      id,
      wallets: chains.flatMap((chain) => wallets.get(walletKey({ chain, address })) ?? []).map(describeWallet),
    })
  } catch (error) {
    const [name, why] = error instanceof Refusal ? [error.errorName, error.message] : (['UNKNOWN_ERROR', describe(error)] as const)
    tell({ type: 'key-refused', id, name, message: `The signer did not take the key: ${why}.` })
  } finally {
    secret?.fill(0)
  }
}

/** Counts what is signed for a wallet with limits. @throws Refusal where it is over them */
async function reserve(request: SignRequest): Promise<void> {
  if (!limiter?.hasLimits(request.address)) return
  const network = rulesFor(request).get(networkPath(request))
  if (!network) throw new Refusal(`no limits hold on ${request.network}, which no plugin serves`)
  await limiter.reserve(request, network)
}

function findWallet(request: SignRequest, { wallets, locked }: OpenState): SigningWallet {
  const { chain, address } = request
  const wallet = wallets.get(walletKey(request))
  if (wallet) return wallet
  const problem = locked.get(walletKey(request))?.problem
  if (problem !== undefined) throw new Refusal(`the key of ${address} is locked: ${problem}`, 'SERVICE_UNINITIALIZED')
  throw new Refusal(`there is no key for ${address} on ${chain}; add it with "${command} wallet add" and restart the server`, 'LOAD_WALLET')
}

const isGone = (plugin: string | undefined): boolean => plugin !== undefined && !versions.some((each) => each.startsWith(plugin))

/** The server may say which version planned it: it chooses among what the operator sealed. */
function rulesFor({ plugin }: SignRequest): SignerRules {
  if (plugin === undefined) return rules
  const nowMs = steadyMs()
  return earlierRules.find(({ sha256, untilMs }) => sha256.startsWith(plugin) && nowMs < untilMs)?.rules ?? rules
}

/** @returns what the policy allows to sign: a digest or a message */
async function checkRequest(request: SignRequest, { curve, address }: SigningWallet, newAccounts: readonly string[]): Promise<Uint8Array> {
  const name = networkPath(request)
  const network = rulesFor(request).get(name)
  checkStops(request, [...stopFiles(), ...told], network)
  const isLocal = network === undefined || (network.keys === 'secp256k1' && network.local)
  const isTried = tries && isLocal && curve === 'secp256k1' && isWellKnown(address)
  // No plugin drafts a permit: it is signed by what is said of built-in ones.
  if (isTried && request.draft.scheme !== 'permit2') return sandboxDigest(request.draft, publicChainIds)
  if (!network) throw new Refusal(`nothing is signed for ${name}: no plugin serves it`)
  if (curve === 'secp256k1' && network.keys === 'secp256k1') return checkEvmRequest(request, network)
  if (curve === 'ed25519' && network.keys === 'ed25519') {
    const { checkSolanaRequest } = await import('./policy-solana.ts')
    return checkSolanaRequest(request, address, network, newAccounts, tries)
  }
  throw new Refusal(`the key of ${address} is one of ${curve}, and ${name} takes keys of ${network.keys}`)
}

async function answer(message: ToSigner): Promise<void> {
  if (message.type === 'open') {
    const opening = open(message)
    lastRead = opening
    return opening
  }
  if (message.type === 'add-key') {
    const adding = lastRead.then(() => addKey(message))
    lastRead = adding
    return adding
  }
  if (message.type === 'stops') {
    told = message.stops.map(stopOf)
    return
  }
  const { id } = message
  try {
    tell({ type: 'signed', id, signature: await sign(message.request) })
  } catch (error) {
    if (error instanceof Refusal)
      tell({
        type: 'failed',
        id,
        name: error.errorName,
        message: `The signer refused: ${error.message}.`.slice(0, maxFailureText),
        ...(error.details && { details: error.details }),
      })
    else tell({ type: 'failed', id, name: 'UNKNOWN_ERROR', message: `The signer failed (${describe(error)}); nothing was signed.` })
  }
}

// Messages of unexpected errors may quote a key or a request. The names of the errors do not.
const describe = (error: unknown): string => (error instanceof Error ? error.name : typeof error)

process.on('uncaughtException', (error) => {
  tell({ type: 'log', level: 'error', fields: { error: describe(error) }, message: 'The signer ends on an unexpected error' })
  setImmediate(() => process.exit(1))
})

serveParent({
  onMessage(received) {
    const message = readToSigner(received)
    if (message) void answer(message)
  },
  onParentGone: () => process.exit(0),
})
