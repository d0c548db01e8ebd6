import { algebraWalk } from '../../kits/amm/algebra/algebra-walk.ts'
import { tokens } from '../../kits/amm/devnet-fixture.ts'
import plugin from '../../../plugins/quickswap-v3/index.ts'

const { DAI, USDC } = tokens

algebraWalk({ name: 'quickswap-v3', kind: '1.0', plugin, asked: [DAI, USDC], pools: 5, share: 0.1 })
