import type { Venue } from '../../../core/contracts/index.ts'
import type { Evm } from '../../../core/kits/evm/index.ts'
import { poolAMM } from '../../../core/kits/pools/index.ts'
import { uniswapV2, type UniswapV2Options } from '../../../core/kits/uniswap-v2/index.ts'

/** An exchange of pairs alone. */
export const pairAMM = (venue: Venue<Evm>, options: UniswapV2Options) => poolAMM(venue, uniswapV2(venue, options))
