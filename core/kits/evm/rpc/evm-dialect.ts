import type { Dialect } from '../../../../kits/nodes/dialect.ts'
import { blockOf, headInAnswers } from './head-in-answers.ts'
import { isPlausible } from './plausible.ts'
import { refusal } from './refusal.ts'

const block = (tag: string) => ({ method: 'eth_getBlockByNumber', params: [tag, false] })

/** How nodes of EVM chains are spoken to. */
export function evmDialect(chainId: number): Dialect {
  return {
    identity: {
      call: { method: 'eth_chainId', params: [] },
      fault(result) {
        const theirs = Number(result)
        return theirs === chainId
          ? undefined
          : { is: Number.isNaN(theirs) ? 'garbage' : 'other', what: `serves chain id ${theirs}, not ${chainId}` }
      },
    },
    headCall: block('latest'),
    headIn: headInAnswers,
    fork: { call: (number) => block(`0x${number.toString(16)}`), read: (result) => blockOf(result)?.hash },
    sendCall: (raw) => ({ method: 'eth_sendRawTransaction', params: [raw] }),
    isPlausible,
    refusal,
  }
}
