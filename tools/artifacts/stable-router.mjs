// Prints the transaction that puts contracts/StableRouter.sol on a network, and where it is then: the same on every network.
// `node --import tsx tools/artifacts/stable-router.mjs`. Whoever sends it pays for it, and has no power over the contract.
import { routerDeployment } from '../../kits/amm/stable/router.ts'

const { address, ...transaction } = routerDeployment
console.log(JSON.stringify({ deploys: address, ...transaction, value: '0' }, null, 2))
