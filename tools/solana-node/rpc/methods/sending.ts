import { lamports } from '@solana/kit'
import { sentenceOf } from '../../ledger/transaction-error.ts'
import type { Wire } from '../../ledger/read-wire.ts'
import { addressOf, configOf, flagOf, slotOf, type Config } from '../params.ts'
import { RpcError } from '../rpc-error.ts'
import { simulate } from '../simulate.ts'
import { blockFor, type View } from '../view.ts'
import { givenWire } from './given-wire.ts'
import type { Methods } from './method.ts'
import { simulationResult } from './simulation.ts'

export const sendingMethods: Methods = {
  sendTransaction(view, [text, config]) {
    const given = configOf(config)
    const wire = givenWire(text, given)
    if (!flagOf(given['skipPreflight'])) preflight(view, wire, given)
    else blockFor(view, { commitment: 'processed', ...minimum(given) })
    view.ledger.submit(
      wire,
      given['maxRetries'] === undefined || given['maxRetries'] === null ? Infinity : Number(slotOf(given['maxRetries'])),
    )
    return wire.signature
  },
  async requestAirdrop(view, [address, amountRaw]) {
    const wire = await view.faucet.transfer(addressOf(address), lamports(slotOf(amountRaw)))
    view.ledger.submit(wire, Infinity)
    return wire.signature
  },
}

const minimum = ({ minContextSlot }: Config): Config => (minContextSlot === undefined ? {} : { minContextSlot })

/** What nodes try before they send, unless they are told not to: they answer the simulation's error, and send nothing. */
function preflight(view: View, wire: Wire, given: Config): void {
  const { preflightCommitment } = given
  const block = blockFor(view, { ...configOf({ commitment: preflightCommitment }), ...minimum(given) })
  const simulation = simulate(view, block, wire, { verifySignatures: true, anyBlockhash: false })
  const { error } = simulation.outcome
  if (error === 'SignatureFailure') throw new RpcError(-32003, 'Transaction signature verification failure')
  if (view.options.slotsBehind !== undefined)
    throw new RpcError(-32005, `Node is behind by ${view.options.slotsBehind} slots`, { numSlotsBehind: view.options.slotsBehind })
  if (error !== null)
    throw new RpcError(-32002, `Transaction simulation failed: ${sentenceOf(error)}`, simulationResult(view, block, wire, simulation))
}
