// What the signer signs while something is stopped: by the files that it reads itself, and by what the server tells it of the store.
import type { Transaction } from 'ethers/transaction'
import { isHeldBy, modesAgainst, stoppedError, type Effect, type Stop } from '../config/stops.ts'
import { decodeTransaction } from './policy-evm.ts'
import { Refusal, type EvmRules, type SolanaRules } from './policy.ts'
import type { SignRequest } from './signer-messages.ts'
import { addressArgument, approveSelector, mayBeForRemoval, takesRightBack, tokenRights, twoArgumentsLength } from './token-rights.ts'

/**
 * The server says what an opaque request does. A taken-over one would lie: so it is not asked under the file that says `stop`.
 * @throws Refusal STOPPED
 */
export function checkStops(request: SignRequest, stops: readonly Stop[], rules: EvmRules | SolanaRules | undefined): void {
  if (stops.length === 0) return
  const seen = effectOfDraft(request, rules)
  for (const stop of stops) {
    const isByWord = seen === 'opaque' && !(stop.file !== undefined && stop.mode === 'stop')
    const effect = seen === 'opaque' ? (isByWord && request.effect) || 'other' : seen
    if (isHeldBy(stop, { wallets: [request.address], clients: [] }) && modesAgainst(effect).includes(stop.mode))
      throw new Refusal(stoppedError(stop).message.replace(/\.$/, ''), 'STOPPED')
  }
}

/** Typed data that moves funds out. Of other kinds the signer sees a hash, or words of an exchange. */
const movesFunds = /withdraw|transfer|send/i

/** What the bytes themselves say. `opaque`: a call of a contract that a connector declares, an approval that removing shares may need, or an action of an exchange. */
function effectOfDraft({ draft, address }: SignRequest, rules: EvmRules | SolanaRules | undefined): Effect | 'opaque' {
  if (draft.scheme === 'ed25519' || draft.scheme === 'new-account') return 'opaque'
  if (draft.scheme === 'permit2') return 'other'
  if (draft.scheme === 'eip712') return movesFunds.test(draft.typedData.primaryType) ? 'other' : 'opaque'
  const ofEvm = rules?.keys === 'secp256k1' ? rules : undefined
  let tx: Transaction
  try {
    tx = decodeTransaction(draft.bytes)
  } catch {
    return 'other'
  }
  const { to, value, data } = tx
  const target = to?.toLowerCase() ?? ''
  if (target === address.toLowerCase())
    return value === 0n && emptyData.includes(data) && !ofEvm?.contracts.has(target) ? 'cancels' : 'other'
  // Where a server only tries, no file says what contracts there are.
  if (!ofEvm) return 'opaque'
  if (isRevocation({ target, value, data }, ofEvm)) return 'reduces'
  if (isForRemoval({ target, value, data }, ofEvm)) return 'opaque'
  return ofEvm.contracts.has(target) && !tokenRights.has(data.slice(0, 10)) ? 'opaque' : 'other'
}

/** It may be the approval that removing shares needs. */
function isForRemoval({ target, value, data }: { target: string; value: bigint; data: string }, rules: EvmRules): boolean {
  if (value !== 0n || data.length !== twoArgumentsLength || !data.startsWith(approveSelector)) return false
  const spender = addressArgument(data, 0)
  return spender !== undefined && mayBeForRemoval({ token: target, spender, amountRaw: BigInt(`0x${data.slice(-64)}`) }, rules)
}

/** As `cancel` and `cancelAgain` of the rail make it. */
const emptyData: readonly string[] = ['0x', '0x00000000']

/** A right taken back, or an allowance taken to 0: of a listed token, or for a declared spender. On an unlisted contract of EIP-721 it would give token 0 to a stranger. */
function isRevocation(
  { target, value, data }: { target: string; value: bigint; data: string },
  { tokens, spenders, contracts }: EvmRules,
): boolean {
  if (takesRightBack({ target, value, data }, contracts)) return true
  if (value !== 0n || data.length !== twoArgumentsLength || !data.startsWith(approveSelector) || !/^0{64}$/.test(data.slice(-64)))
    return false
  const holder = addressArgument(data, 0)
  return tokens.has(target) || (holder !== undefined && spenders.has(holder))
}
