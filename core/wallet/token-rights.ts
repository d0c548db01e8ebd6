// Calls of tokens that hand over tokens or rights to them, by their selectors: what the signer checks on every contract, and what a plan that is
// simulated may not have.
import { canonicalPermit2, isUnlimited } from '../contracts/permit2.ts'

export const transferSelector = '0xa9059cbb'
export const approveSelector = '0x095ea7b3'
/** Of a call with two arguments, in hexadecimal: 0x, the selector, two words. */
export const twoArgumentsLength: number = 2 + 2 * (4 + 32 + 32)

/**
 * Calls that hand over tokens, or rights to tokens, and the argument that says to whom.
 * They are checked on every target, on a declared contract too. A connector may declare a token (to wrap it), and
 * "the target is declared" must not become "the token may be sent anywhere". Plans that are simulated may not have them at all.
 */
export const tokenRights: ReadonlyMap<string, { readonly call: string; readonly holderArgument: number }> = new Map([
  [approveSelector, { call: 'approve(address,uint256)', holderArgument: 0 }],
  ['0x39509351', { call: 'increaseAllowance(address,uint256)', holderArgument: 0 }],
  // Older tokens (LINK) name it so
  ['0xd73dd623', { call: 'increaseApproval(address,uint256)', holderArgument: 0 }],
  ['0xa22cb465', { call: 'setApprovalForAll(address,bool)', holderArgument: 0 }],
  [transferSelector, { call: 'transfer(address,uint256)', holderArgument: 0 }],
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
  // DAI and MKR
  ['0xb753a98c', { call: 'push(address,uint256)', holderArgument: 0 }],
  ['0xbb35783b', { call: 'move(address,address,uint256)', holderArgument: 1 }],
  ['0xf2d5d56b', { call: 'pull(address,uint256)', holderArgument: 0 }],
  // DSToken: without end
  ['0xdaea85c5', { call: 'approve(address)', holderArgument: 0 }],
  // stETH
  ['0x8fcb4e5b', { call: 'transferShares(address,uint256)', holderArgument: 0 }],
  ['0x6d780459', { call: 'transferSharesFrom(address,address,uint256)', holderArgument: 1 }],
  // ERC-6909
  ['0x095bcdb6', { call: 'transfer(address,uint256,uint256)', holderArgument: 0 }],
  ['0xfe99049a', { call: 'transferFrom(address,address,uint256,uint256)', holderArgument: 1 }],
  ['0x426a8493', { call: 'approve(address,uint256,uint256)', holderArgument: 0 }],
  ['0x558a7297', { call: 'setOperator(address,bool)', holderArgument: 0 }],
  // Wrapped coins that unwrap to somebody else
  ['0x205c2878', { call: 'withdrawTo(address,uint256)', holderArgument: 0 }],
  ['0x9555a942', { call: 'withdrawFrom(address,address,uint256)', holderArgument: 1 }],
  // Rights to borrow and to withdraw: debt tokens of Aave, Compound III, and the Vat of Maker
  ['0xc04a8a10', { call: 'approveDelegation(address,uint256)', holderArgument: 0 }],
  ['0x110496e5', { call: 'allow(address,bool)', holderArgument: 0 }],
  ['0xa3b22fc4', { call: 'hope(address)', holderArgument: 0 }],
  // Permit2: rights over every token that it may move
  ['0x87517c45', { call: 'approve(address,address,uint160,uint48)', holderArgument: 1 }],
])

/** Calls of a contract to itself in the caller's name, one after the other, and the argument that lists them as `bytes[]`. */
const batches: ReadonlyMap<string, number> = new Map([
  // https://github.com/Uniswap/v3-periphery/blob/main/contracts/interfaces/IMulticall.sol
  ['0xac9650d8', 0], // multicall(bytes[])
  // https://github.com/Uniswap/swap-router-contracts/blob/main/contracts/interfaces/IMulticallExtended.sol
  ['0x5ae401dc', 1], // multicall(uint256,bytes[])
  ['0x1f0464d1', 1], // multicall(bytes32,bytes[])
  // https://github.com/boringcrypto/BoringSolidity/blob/master/contracts/BoringBatchable.sol
  ['0xd2423b51', 0], // batch(bytes[],bool)
])
const [maxCalls, maxDepth] = [64, 4]

/**
 * A call and those that it has the contract make in the caller's name, however deep. In lower case.
 * @returns undefined where they cannot be told: then nothing is known of what it does
 */
export function callsIn(data: string, depth = 0): readonly string[] | undefined {
  const argument = batches.get(data.slice(0, 10))
  if (argument === undefined) return [data]
  if (depth === maxDepth) return undefined
  const args = data.slice(10)
  const list = numberAt(args, argument * 32)
  const count = list === undefined ? undefined : numberAt(args, list)
  if (list === undefined || count === undefined || count > maxCalls) return undefined
  const calls = [data]
  for (let index = 0; index < count; index += 1) {
    // Offsets in a list count from behind its length.
    const offset = numberAt(args, list + 32 + index * 32)
    const length = offset === undefined ? undefined : numberAt(args, list + 32 + offset)
    if (offset === undefined || length === undefined) return undefined
    const from = 2 * (list + 64 + offset)
    if (from + 2 * length > args.length) return undefined
    const inner = callsIn(`0x${args.slice(from, from + 2 * length)}`, depth + 1)
    if (!inner || calls.length + inner.length > maxCalls) return undefined
    calls.push(...inner)
  }
  return calls
}

/** The word at a byte offset, as a number that can be one of bytes. */
function numberAt(args: string, offset: number): number | undefined {
  const word = args.slice(2 * offset, 2 * offset + 64)
  return /^0{56}[0-9a-f]{8}$/.test(word) ? Number.parseInt(word, 16) : undefined
}

/**
 * Whether a call is a deposit to an exchange as a connector declares it: a transfer of that token to that address, and nothing else.
 * Token and recipient are a pair: the token of one exchange may not go to the recipient of another.
 * All in lower case.
 */
export function isDeclaredDeposit(
  { target, value, data }: { target: string; value: bigint; data: string },
  deposits: readonly { readonly token: string; readonly recipient: string }[],
): boolean {
  if (value !== 0n || data.length !== twoArgumentsLength || !data.startsWith(transferSelector)) return false
  const holder = addressArgument(data, 0)
  return deposits.some(({ token, recipient }) => token === target && recipient === holder)
}

/** `approve(address token, address spender, uint160 amount, uint48 expiration)` of Permit2, for nothing. */
const permit2Revocation = /^0x87517c45[0-9a-f]{128}0{64}[0-9a-f]{64}$/
const setApprovalForAllSelector = '0xa22cb465'
const zeroWord = '0'.repeat(64)

/**
 * Whether a call takes a right back and gives nobody anything, whoever has it: one by Permit2, or of these contracts one over all tokens of a
 * collection, or over a single one, which goes to the zero address. All in lower case.
 */
export function takesRightBack(
  { target, value, data }: { target: string; value: bigint; data: string },
  contracts: { has(contract: string): boolean },
): boolean {
  if (value !== 0n) return false
  const isKnown = contracts.has(target)
  if ((isKnown || target === canonicalPermit2.toLowerCase()) && permit2Revocation.test(data)) return true
  if (!isKnown || data.length !== twoArgumentsLength) return false
  if (data.startsWith(setApprovalForAllSelector)) return addressArgument(data, 0) !== undefined && data.endsWith(zeroWord)
  return data.startsWith(approveSelector) && data.slice(10, 74) === zeroWord
}

/** The address in the n-th 32-byte argument of a call, lower-case. Undefined where the data is short or the upper bytes are not zero. */
export function addressArgument(data: string, index: number): string | undefined {
  const start = 10 + index * 64
  const word = data.slice(start, start + 64)
  return /^0{24}[0-9a-f]{40}$/.test(word) ? `0x${word.slice(24)}` : undefined
}

/**
 * Whether it may be the approval that removing shares of a constant-product pool needs: in an exact amount, for a router of such pools. These make no call
 * that their caller chooses, and take from him alone (UniswapV2Router02 of @uniswap/v2-periphery@1.1.0-beta.0): so nobody else can use the right, whatever
 * contract gives it. Contracts of exchanges give none: of a collection of positions it would be a right to one.
 */
export const mayBeForRemoval = (
  { token, spender, amountRaw }: { readonly token: string; readonly spender: string; readonly amountRaw: bigint },
  { readers, contracts }: { readonly readers: ReadonlyMap<string, string>; readonly contracts: ReadonlySet<string> },
): boolean => readers.get(spender) === 'v2-router' && !contracts.has(token) && !isUnlimited(amountRaw)
