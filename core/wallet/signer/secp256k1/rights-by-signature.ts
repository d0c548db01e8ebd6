/**
 * Primary types by which a signature alone hands over tokens, rights over them, or whatever the wallet can do. A contract takes them only
 * under these very names, so that no other name stands for them.
 */
const names: readonly RegExp[] = [
  // ERC-2612, DAI and ERC-4494 (Permit); Permit2 (PermitSingle, PermitBatch, PermitTransferFrom, PermitWitnessTransferFrom, …)
  /permit/i,
  // ERC-3009: TransferWithAuthorization, ReceiveWithAuthorization, CancelAuthorization
  /authorization/i,
  // Any call in the wallet's name: tokens of Polygon (NativeMetaTransaction), ERC-2771 forwarders, Safe, ERC-4337
  /^(MetaTransaction|ForwardRequest\w*|SafeTx|SafeMessage|PackedUserOperation|UserOperation)$/i,
  // ERC-5805 (votes) and ERC-7710
  /^(Delegation|Delegate)$/i,
]

export const givesRights = (primaryType: string): boolean => names.some((each) => each.test(primaryType))
