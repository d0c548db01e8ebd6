import { TypedDataEncoder } from 'ethers/hash'
import { Refusal } from '../refusal.ts'
import type { EvmRules } from '../signer-policy.ts'
import type { TypedData } from '../sign-request.ts'

/**
 * Decides whether typed data (EIP-712) may be signed: its domain and primary type must be declared by a connector
 * of that network, and it must not be for another chain.
 * @returns the digest to sign
 * @throws Refusal
 */
export function checkTypedData({ domain, types, primaryType, message }: TypedData, rules: EvmRules): string {
  const kind = `${primaryType} of the domain "${domain.name ?? ''}"`
  const declared = rules.typedData.filter((each) => each.domain === domain.name && each.primaryType === primaryType)
  if (declared.length === 0) throw new Refusal(`typed data ${kind} is of no kind that a connector declares on ${rules.name}`)
  const { chainId } = domain
  const right = declared.some((each) => chainId === undefined || BigInt(chainId) === BigInt(each.chainId ?? rules.chainId))
  if (!right) throw new Refusal(`typed data ${kind} is for chain id ${chainId}, which is not that of ${rules.name}`)

  // ethers derives the domain's type itself and takes it for a second primary type.
  const { EIP712Domain: _, ...structs } = types
  let digest: string
  let encodedType: string
  try {
    encodedType = TypedDataEncoder.from(structs).primaryType
    digest = TypedDataEncoder.hash(domain, structs, message)
  } catch {
    throw new Refusal(`typed data ${kind} does not match its own types`)
  }
  // What is hashed is the root of the types, whatever the request calls it.
  if (encodedType !== primaryType) throw new Refusal(`typed data says ${primaryType}, and its types make it ${encodedType}`)
  return digest
}
