import type { Engine } from '../engine.ts'
import type { Account } from '../ledger/account.ts'
import type { Nonces } from '../signing/nonces.ts'
import { recoverSigner, type SignedRequest } from '../signing/recover.ts'
import { catchUp } from '../time.ts'
import { failed, type Action, type Answer } from './action.ts'
import { spendRequests } from './request-limit.ts'

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
