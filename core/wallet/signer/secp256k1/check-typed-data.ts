import { ZeroAddress } from 'ethers/constants'
import { TypedDataEncoder } from 'ethers/hash'
import { Refusal } from '../refusal.ts'
import type { TypedDataRules, EvmRules } from '../../policy.ts'
import type { TypedData } from '../sign-request.ts'
import { givesRights } from './rights-by-signature.ts'

/**
 * Decides whether typed data (EIP-712) may be signed: its domain and primary type must be declared by a connector
 * of that network, it must be for the chain id that goes with them and for no contract but declared ones, and where money goes it must go
 * to the signer's own address.
 * @returns the digest to sign
 * @throws Refusal
 */
export function checkTypedData({ domain, types, primaryType, message }: TypedData, from: string, rules: EvmRules): string {
  const kind = `${primaryType} of the domain "${domain.name ?? ''}"`
  if (givesRights(primaryType)) throw new Refusal(`typed data ${kind} gives rights away by a signature alone, and is never signed`)
  const declared = rules.typedData.filter((each) => each.domain === domain.name && each.primaryType === primaryType)
  if (declared.length === 0) throw new Refusal(`typed data ${kind} is of no kind that a connector declares on ${rules.name}`)
  const { chainId } = domain
  if (chainId === undefined) throw new Refusal(`typed data ${kind} names no chain id: it would be good on every chain`)
  const forChain = declared.filter((each) => BigInt(chainId) === idFor(each, rules))
  if (forChain.length === 0) throw new Refusal(`typed data ${kind} is for chain id ${chainId}, which is not that of ${rules.name}`)
  checkContract(domain, kind, rules)
  // What several connectors declare alike is bound by what any of them says of it.
  for (const field of forChain.flatMap(({ own = [] }) => own)) checkOwn(message[field], field, kind, from)
  return digestOf({ domain, types, primaryType, message }, kind)
}

const idFor = ({ chainId }: TypedDataRules, rules: EvmRules): bigint => (chainId === undefined ? rules.chainId : BigInt(chainId))

/** Contracts that no connector declares are tokens, or worse; and those of another chain nobody knows. */
function checkContract({ verifyingContract, chainId }: TypedData['domain'], kind: string, rules: EvmRules): void {
  if (verifyingContract === undefined || verifyingContract === ZeroAddress) return
  const isHere = chainId !== undefined && BigInt(chainId) === rules.chainId
  if (isHere && rules.contracts.has(verifyingContract.toLowerCase())) return
  throw new Refusal(`typed data ${kind} is for the contract ${verifyingContract}, which no connector declares on ${rules.name}`)
}

function checkOwn(value: unknown, field: string, kind: string, from: string): void {
  if (typeof value === 'string' && value.toLowerCase() === from.toLowerCase()) return
  throw new Refusal(`${field} of typed data ${kind} is not the wallet's own address`)
}

function digestOf({ domain, types, primaryType, message }: TypedData, kind: string): string {
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
