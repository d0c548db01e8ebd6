import { getBase64Decoder } from '@solana/kit'
import type { Outcome } from '../../ledger/block.ts'
import type { Answer } from '../answer.ts'

export const returnDataOf = ({ returnData }: Outcome): Answer =>
  returnData && { programId: returnData.programId, data: [getBase64Decoder().decode(returnData.data), 'base64'] }
