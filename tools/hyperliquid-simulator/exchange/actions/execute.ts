import { ApproveAgentRequest, ApproveAgentResponse, ApproveAgentTypes } from '@nktkas/hyperliquid/api/exchange'
import type { Account } from '../account.ts'
import { fromUsd } from '../amounts.ts'
import type { Engine } from '../engine.ts'
import { recoverSigner, type Nonces, type SignedRequest } from '../signing.ts'
import { catchUp } from '../time.ts'
import { defineAction, done, failed, type Action, type Answer } from './action.ts'
import { cancel, cancelByCloid, noop, scheduleCancel, batchModify, modify, order } from './orders.ts'
import { agentSetAbstraction, borrowLend, userPortfolioMargin, userSetAbstraction } from './lending.ts'
import { updateIsolatedMargin, updateLeverage } from './leverage.ts'
import { spotSend, usdClassTransfer, usdSend, withdraw3 } from './transfers.ts'

const [defaultMs, mostNamed] = [90 * 86_400_000, 3]

/** One without a name and three with one: each takes the place of who had its name, whose nonces are forgotten. */
const approveAgent = defineAction({
  request: ApproveAgentRequest,
  response: ApproveAgentResponse,
  types: ApproveAgentTypes,
  run: (engine, account, { agentAddress, agentName }, { nonces }) => {
    const [, name, until] = /^(.*?)(?: valid_until (\d+))?$/.exec(agentName ?? '') ?? []
    const address = agentAddress.toLowerCase()
    if (engine.accounts.get(address)?.exists) return failed('Cannot add an existing user as an agent.')
    const taken = [...engine.accounts.values()].some(({ agents }) => agents.some((agent) => agent.address === address))
    if (taken) return failed('Extra agent already used.')
    const replaced = account.agents.find((agent) => (agent.name ?? '') === (name ?? ''))
    if (!replaced && name && account.agents.filter((agent) => agent.name).length >= mostNamed) return failed('Too many extra agents.')
    if (replaced) nonces.forget(replaced.address)
    const validUntil = until ? Number(until) : engine.clock.now() + defaultMs
    account.agents = [...account.agents.filter((agent) => agent !== replaced), { address, validUntil, ...(name ? { name } : {}) }]
    return done
  },
})

/** All that can be done, by the type of the action. */
export const actions: Readonly<Record<string, Action>> = {
  agentSetAbstraction,
  approveAgent,
  batchModify,
  borrowLend,
  cancel,
  cancelByCloid,
  modify,
  noop,
  order,
  scheduleCancel,
  spotSend,
  updateIsolatedMargin,
  updateLeverage,
  usdClassTransfer,
  usdSend,
  userPortfolioMargin,
  userSetAbstraction,
  withdraw3,
}

/** Carries out a request that was read by its schema, if who signed it may; `signed` is the request as it was signed. */
export function execute(engine: Engine, nonces: Nonces, action: Action, request: SignedRequest, signed: SignedRequest): Answer {
  catchUp(engine)
  const now = engine.clock.now()
  const wrong = action.types && wrongForUser(engine, request)
  if (wrong) return failed(wrong)
  const signer = recoverSigner(signed, engine.testnet, action.types)
  if (!signer) return failed('Unable to recover signer.')
  const account = actingFor(engine, signer, action)
  if (!account) {
    return failed(action.types ? `Must deposit before performing actions. User: ${signer}` : `User or API Wallet ${signer} does not exist.`)
  }
  if (request.vaultAddress) return failed(`Vault not registered: ${request.vaultAddress}`)

  const expired = request.expiresAfter !== undefined && request.expiresAfter < now
  // One that came too late counts five times: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/exchange-endpoint
  const tooMany = spendRequests(engine, account, action, (action.weight?.(request.action) ?? 1) * (expired ? 5 : 1))
  if (tooMany) return failed(tooMany)
  const refused = nonces.take(signer, request.nonce, now)
  if (refused) return failed(refused)
  account.hasSentTx = true
  if (expired) return failed('Action already expired')
  return action.run(engine, account, request.action, { nonces, nonce: request.nonce })
}

function wrongForUser({ testnet }: Engine, { action, nonce }: SignedRequest): string | undefined {
  if (action['hyperliquidChain'] !== (testnet ? 'Testnet' : 'Mainnet')) return 'Mainnet and testnet require different signature.'
  return (action['nonce'] ?? action['time']) === nonce ? undefined : 'Nonce mismatch.'
}

/** Who signed, or whose agent that is: but for what only the wallet itself may sign. */
function actingFor(engine: Engine, signer: string, { types }: Action): Account | undefined {
  const own = engine.accounts.get(signer)
  if (own?.exists) return own
  if (types) return undefined
  const now = engine.clock.now()
  return [...engine.accounts.values()].find(({ agents }) =>
    agents.some(({ address, validUntil }) => address === signer && validUntil > now),
  )
}

const slowMs = 10_000

/** How many requests a wallet may make in all: what it starts with and one per dollar that it traded, more for cancels. */
export function requestCap({ rules }: Engine, { volumeUsd }: Account, isCancel = false): number {
  const limit = rules.requestsPerAddress + Number(volumeUsd / 1_000_000n)
  return isCancel ? Math.min(limit + 100_000, limit * 2) : limit
}

/** https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits: beyond it, one every ten seconds. */
function spendRequests(engine: Engine, account: Account, action: Action, weight: number): string | undefined {
  const cap = requestCap(engine, account, action.isCancel)
  if (account.requests + weight > cap) {
    const now = engine.clock.now()
    if (now - account.lastSlowRequest < slowMs) {
      return (
        `Too many cumulative requests sent (${account.requests + weight} > ${cap}) for cumulative volume traded $${fromUsd(account.volumeUsd)}. ` +
        'Place taker orders to free up 1 request per USDC traded.'
      )
    }
    account.lastSlowRequest = now
  }
  account.requests += weight
  return undefined
}
