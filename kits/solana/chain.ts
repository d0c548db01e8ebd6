import { type Chain, type ChainVenue, type Token, defineChain, type ChainPlugin } from '../../core/contracts/index.ts'
import { abortable } from '../../core/base/async.ts'
import { createHeadFeed } from '../nodes/head-feed.ts'
import { createRpc } from '../nodes/rpc.ts'
import { defaultRequestTimeoutSeconds, refuseBadUrls } from '../nodes/settings.ts'
import { createAccountFeed } from './account-feed.ts'
import { readHead } from './accounts.ts'
import { createContain } from './contain.ts'
import { createReader } from './reader.ts'
import { createSimulation } from './simulate.ts'
import { gasOf, priceFees, computeUnitsFor } from './fees.ts'
import { createRecentFees } from './recent-fees.ts'
import {
  defaultFeeCapLamports,
  defaultFeePolicy,
  defaultPollingSeconds,
  type SolanaChainConfig,
  finalDepth,
  type SolanaNetwork,
  solanaChainSchema,
} from './network.ts'
import { solanaRail } from './rail.ts'
import { isSlotUndone, readHashedHead } from './slot-hashes.ts'
import { solanaDialect } from './rpc.ts'
import { createTipAccounts, createTips } from './tips.ts'
import { createTokenAccounts, createAssociatedAddresses, readBalances, readToken } from './tokens.ts'
import { createTokenWarnings } from './token-warnings.ts'
import { createImages } from './images.ts'
import { movedIn, movedTogether } from './movements.ts'
import { createSubscribedImages } from './subscribed-images.ts'
import { decodeLogs, findTransaction } from './transactions.ts'
import { solana } from './family.ts'
import { canonicalAddress, isTransactionSignature, nativeAddress, type Solana, type SolanaReader } from './types.ts'

/** The longest pause before bytes are sent again. Nothing is signed again at a higher fee. */
const maxResendSeconds = 3

/** One network of Solana, from what is true of it and what the operator set. Connects on first use. */
export function solanaChain(
  { chain, network, config, log, meter }: ChainVenue<SolanaChainConfig>,
  definition: SolanaNetwork,
): Chain<Solana> {
  const { chainId, genesisHash, leastSlotSeconds = 0, local = false } = definition
  const name = `${chain}/${network}`
  const feeCapRaw = BigInt(config.feeCap ?? defaultFeeCapLamports)
  const policy = { ...defaultFeePolicy, ...config.feePolicy }
  const nativeCurrency: Token = { symbol: 'SOL', address: nativeAddress, decimals: 9, native: true }

  refuseBadUrls(name, config)
  refuseBadNonces(name, config)
  refuseBadTip(name, config)
  if (!(config.subscribeUrls ?? []).every((url) => URL.canParse(url)))
    throw new Error(`${name}: an entry of subscribeUrls is not a URL. Write it like wss://host/path.`)
  const timeoutMs = (config.requestTimeoutSeconds ?? defaultRequestTimeoutSeconds) * 1000
  const { rpcUrls = [], sendUrls, privateUrls } = config
  const rpc = createRpc({ rpcUrls, sendUrls, privateUrls, dialect: solanaDialect(genesisHash), meter, log, timeoutMs, network: name })
  const { privateTip } = config
  const tipAccounts = createTipAccounts(privateTip?.accounts)
  const associated = createAssociatedAddresses()
  const recentFees = createRecentFees(rpc)
  const unbounded = { signal: new AbortController().signal }
  const pollingMs = (config.pollingSeconds ?? defaultPollingSeconds) * 1000
  const heads = createHeadFeed({ rpc, poll: () => readHead(rpc, unbounded), pollingMs, log })
  const refused = createRefusals()
  const reader: SolanaReader = { ...createReader(rpc, nativeCurrency), refusals: refused.of }
  const token: Chain<Solana>['token'] = (address, at) => readToken(rpc, address, at)

  const batch = createImages(rpc)
  const feed = config.subscribeUrls && createAccountFeed(config.subscribeUrls, { log, meter })
  const changes = feed ? createSubscribedImages({ feed, batch, log }) : batch

  return {
    chainId,
    nativeCurrency,
    coinAddresses: [nativeAddress],
    reader,
    rail: solanaRail({
      rpc,
      network: name,
      nativeCurrency,
      associated,
      durableNonces: config.durableNonces ?? {},
      tipAccounts,
      nextTip: createTips(privateTip),
      policy,
      feeCapRaw,
      minSlotMs: leastSlotSeconds * 1000,
      log,
      token,
      refused: refused.note,
    }),
    local,
    feeCapRaw,
    confirmations: finalDepth,
    bumpAfterSeconds: maxResendSeconds,
    settings: {
      feeCap: Number(feeCapRaw),
      feePolicy: policy,
      pollingSeconds: pollingMs / 1000,
      requestTimeoutSeconds: timeoutMs / 1000,
      durableNonces: config.durableNonces ?? {},
      refuseWarnings: [...(config.refuseWarnings ?? [])],
      ...(privateTip && { privateTip: { ...privateTip, accounts: [...privateTip.accounts] } }),
    },
    rpcUrl: () => rpc.url(),
    nodes: () => rpc.nodes(),
    address: canonicalAddress,
    isTransactionId: isTransactionSignature,
    head: (at) => abortable(readHead(rpc, at), at.signal),
    hashedHead: (at) => readHashedHead(rpc, at),
    isUndone: (block, at) => isSlotUndone(rpc, block, at),
    heads,
    images: true,
    changes,
    balances: (owner, tokens, at) => readBalances(rpc, associated, owner, tokens, at),
    token,
    gas(units, _head, at) {
      const termsBy = (fees: readonly bigint[]) => gasOf(priceFees(computeUnitsFor(Number(units)), fees, { policy, feeCapRaw }))
      const fees = recentFees(at)
      return fees instanceof Promise ? fees.then(termsBy) : termsBy(fees)
    },
    decode: decodeLogs,
    find: (id, at) => findTransaction(rpc, id, tipAccounts.of(id), at),
    movements: movedIn,
    warnings: createTokenWarnings({ rpc, log, refused: config.refuseWarnings ?? [] }),
    altchain: {
      createToken: createTokenAccounts(rpc, associated),
      contain: createContain(reader),
      simulate: createSimulation(rpc),
      moved: movedTogether,
    },
    async start(signal) {
      await abortable(readHead(rpc, { signal }), signal)
    },
    stop() {
      feed?.stop()
      return rpc.stop()
    },
  }
}

/** Of so many wallets: of one that is forgotten, what is kept of its accounts is read again. */
const mostWallets = 10_000

/** The refusals of each wallet's transactions, which only grow. */
function createRefusals() {
  const counts = new Map<string, number>()
  let all = 0
  return {
    of: (wallet: string) => counts.get(wallet) ?? 0,
    note(wallet: string) {
      if (counts.size >= mostWallets) counts.clear()
      counts.set(wallet, (all += 1))
    },
  }
}

/** The schema checks the form. This checks that it is 32 bytes. */
function refuseBadNonces(name: string, { durableNonces = {} }: SolanaChainConfig): void {
  const wrong = Object.entries(durableNonces)
    .flatMap(([wallet, accounts]) => [wallet, ...accounts])
    .find((text) => canonicalAddress(text) === undefined)
  if (wrong !== undefined) throw new Error(`${name}: durableNonces has "${wrong}", which is not an address. Copy the whole address again.`)
}

/** The schema checks the form. This checks that it is 32 bytes, and that somebody gets the tip. */
function refuseBadTip(name: string, { privateTip, privateUrls = [] }: SolanaChainConfig): void {
  const wrong = privateTip?.accounts.find((text) => canonicalAddress(text) === undefined)
  if (wrong !== undefined) throw new Error(`${name}: privateTip has "${wrong}", which is not an address. Copy the whole address again.`)
  if (privateTip && privateUrls.length === 0)
    throw new Error(`${name}: privateTip is for the endpoints of privateUrls, and there are none. Name them, or leave it out.`)
}

export interface SolanaChainTables {
  /** The chain's, and its folder's. */
  readonly name: string
  /** The version of the plugin interface that it is written for. */
  readonly apiVersion: string
  readonly version?: string
  readonly networks: Readonly<Record<string, SolanaNetwork>>
}

/** A whole chain plugin: what is true of its networks. Its tokens lie beside it, in `tokens.json`. */
export function solanaChainPlugin({ name, apiVersion, version, networks }: SolanaChainTables): ChainPlugin<Solana, SolanaChainConfig> {
  return defineChain({
    family: solana,
    manifest: {
      name,
      apiVersion,
      ...(version !== undefined && { version }),
      trading_type: [],
      available_networks: [{ chain: name, networks: Object.keys(networks) }],
      schema: solanaChainSchema,
    },
    create(venue: ChainVenue<SolanaChainConfig>): Chain<Solana> {
      const definition = networks[venue.network]
      if (!definition) throw new Error(`Chain ${name} has no network "${venue.network}": it has ${Object.keys(networks).join(', ')}.`)
      return solanaChain(venue, definition)
    },
  })
}
