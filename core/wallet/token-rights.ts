/**
 * Calls that hand tokens, or rights over them, to somebody: which argument says to whom.
 * They are checked on every target, a declared contract too: a connector may declare a token (to wrap it), and
 * "the target is declared" must not become "the token may be sent anywhere".
 */
export const tokenRights: ReadonlyMap<string, { readonly call: string; readonly holderArgument: number }> = new Map([
  ['0x095ea7b3', { call: 'approve(address,uint256)', holderArgument: 0 }],
  ['0x39509351', { call: 'increaseAllowance(address,uint256)', holderArgument: 0 }],
  ['0xa22cb465', { call: 'setApprovalForAll(address,bool)', holderArgument: 0 }],
  ['0xa9059cbb', { call: 'transfer(address,uint256)', holderArgument: 0 }],
  ['0x23b872dd', { call: 'transferFrom(address,address,uint256)', holderArgument: 1 }],
  ['0x42842e0e', { call: 'safeTransferFrom(address,address,uint256)', holderArgument: 1 }],
  ['0xb88d4fde', { call: 'safeTransferFrom(address,address,uint256,bytes)', holderArgument: 1 }],
])

export const approveSelector = '0x095ea7b3'

/** The address in the n-th 32-byte argument of a call, lower-case; undefined where there is none (short data, dirty upper bytes). */
export function addressArgument(data: string, index: number): string | undefined {
  const start = 10 + index * 64
  const word = data.slice(start, start + 64)
  return /^0{24}[0-9a-f]{40}$/.test(word) ? `0x${word.slice(24)}` : undefined
}
