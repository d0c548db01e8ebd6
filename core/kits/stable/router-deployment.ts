import { concat, getCreate2Address, keccak256, ZeroHash } from 'ethers'
import artifact from '../../../kits/amm/stable/artifacts/StableRouter.json' with { type: 'json' }

/** Deploys what it is sent behind a salt, the same on nearly every chain: https://github.com/Arachnid/deterministic-deployment-proxy. */
const proxy = '0x4e59b44847b379578588920cA78FbF26c0B4956C'

/** The transaction that puts the router on a network, whoever sends it, and where it then is: the same everywhere. */
export const routerDeployment = {
  to: proxy,
  data: concat([ZeroHash, artifact.bytecode]),
  address: getCreate2Address(proxy, ZeroHash, keccak256(artifact.bytecode)),
}
