import { getAddressDecoder, type EncodedAccount } from '@solana/kit'
import { token2022, tokenSize } from '../../ledger/token-account.ts'
import type { Answer } from '../answer.ts'

/** Source: solana-program/token-2022, program/src/extension/mod.rs, ExtensionType. */
const transferFeeConfig = 1
const transferFeeAmount = 2
const immutableOwner = 7

/** What a Token-2022 account has beyond a plain one; undefined where it can have none. */
export function extensionsOf({ programAddress, data }: EncodedAccount): Answer | undefined {
  if (programAddress !== token2022) return undefined
  const extensions: Answer[] = []
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  // Behind the kind of account, each is its type, its length and its bytes.
  for (let at = tokenSize + 1; at + 4 <= data.length;) {
    const [type, length] = [view.getUint16(at, true), view.getUint16(at + 2, true)]
    if (type === 0) break
    extensions.push(extension(type, new DataView(data.buffer, data.byteOffset + at + 4, length)))
    at += 4 + length
  }
  return extensions.length > 0 ? extensions : undefined
}

function extension(type: number, state: DataView): Answer {
  if (type === immutableOwner) return { extension: 'immutableOwner' }
  if (type === transferFeeAmount) return { extension: 'transferFeeAmount', state: { withheldAmount: state.getBigUint64(0, true) } }
  if (type !== transferFeeConfig) return { extension: 'unparseableExtension' }
  return {
    extension: 'transferFeeConfig',
    state: {
      newerTransferFee: transferFee(state, 90),
      olderTransferFee: transferFee(state, 72),
      transferFeeConfigAuthority: optionalAddress(state, 0),
      withdrawWithheldAuthority: optionalAddress(state, 32),
      withheldAmount: state.getBigUint64(64, true),
    },
  }
}

const transferFee = (state: DataView, at: number): Answer => ({
  epoch: state.getBigUint64(at, true),
  maximumFee: state.getBigUint64(at + 8, true),
  transferFeeBasisPoints: state.getUint16(at + 16, true),
})

/** All zeros stand for nobody. */
function optionalAddress(state: DataView, at: number): Answer {
  const bytes = new Uint8Array(state.buffer, state.byteOffset + at, 32)
  return bytes.every((each) => each === 0) ? null : getAddressDecoder().decode(bytes)
}
