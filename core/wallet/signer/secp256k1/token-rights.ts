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
  // ERC-1155
  ['0xf242432a', { call: 'safeTransferFrom(address,address,uint256,uint256,bytes)', holderArgument: 1 }],
  ['0x2eb2c2d6', { call: 'safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)', holderArgument: 1 }],
  // ERC-677 and ERC-1363
  ['0x4000aea0', { call: 'transferAndCall(address,uint256,bytes)', holderArgument: 0 }],
  ['0x1296ee62', { call: 'transferAndCall(address,uint256)', holderArgument: 0 }],
  ['0xc1d34b89', { call: 'transferFromAndCall(address,address,uint256,bytes)', holderArgument: 1 }],
  ['0xd8fbe994', { call: 'transferFromAndCall(address,address,uint256)', holderArgument: 1 }],
  ['0xcae9ca51', { call: 'approveAndCall(address,uint256,bytes)', holderArgument: 0 }],
  ['0x3177029f', { call: 'approveAndCall(address,uint256)', holderArgument: 0 }],
  // ERC-777
  ['0x9bd9bbc6', { call: 'send(address,uint256,bytes)', holderArgument: 0 }],
  ['0x959b8c3f', { call: 'authorizeOperator(address)', holderArgument: 0 }],
  // Permit2: rights over every token that it may move
  ['0x87517c45', { call: 'approve(address,address,uint160,uint48)', holderArgument: 1 }],
])

export const approveSelector = '0x095ea7b3'

/** The address in the n-th 32-byte argument of a call, lower-case; undefined where there is none (short data, dirty upper bytes). */
export function addressArgument(data: string, index: number): string | undefined {
  const start = 10 + index * 64
  const word = data.slice(start, start + 64)
  return /^0{24}[0-9a-f]{40}$/.test(word) ? `0x${word.slice(24)}` : undefined
}
