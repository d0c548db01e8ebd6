import { dataSlice, getAddress } from 'ethers'

/** A pool's address is the first part of its id in the Vault: PoolRegistry of npm @balancer-labs/v2-vault, `_toPoolId`. */
export const poolAddress = (id: string): string => getAddress(dataSlice(id, 0, 20))
