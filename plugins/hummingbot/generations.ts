// Paths of other generations of the clients, and what is not served. Each is refused by a text that says which it is: "not found" sends people looking for a wrong address.
import { interfacePath, SluiceError, Type, type InterfacePath } from 'sluice/interface'

const named = { action: Type.String({ maxLength: 128 }) }
const ofConnector = { dex: Type.String({ maxLength: 128 }), type: Type.String({ maxLength: 128 }) }

/** Whose they are, and their paths. */
const generations: readonly { readonly of: string; readonly paths: readonly string[] }[] = [
  {
    of: 'clients up to 1.17',
    paths: ['/network/:action', '/evm/:action', '/amm/:action', '/amm/liquidity/:action', '/amm/perp/:action', '/clob/:action'],
  },
  { of: 'clients from 1.18 to 2.2', paths: ['/chain/:action'] },
  { of: 'clients from 2.3 to 2.5', paths: ['/ethereum/:action', '/solana/:action'] },
  {
    of: 'clients before 2.16',
    // Those of the type router are hummingbot-api's, too.
    paths: ['quote-swap', 'execute-swap'].map((action) => `/connectors/:dex/:type/${action}`),
  },
]

/** What clients ask and is not done here. */
const notServed: readonly { readonly method: 'GET' | 'POST'; readonly paths: readonly string[]; readonly why: string }[] = [
  {
    method: 'POST',
    paths: ['/trading/clmm/create-pool', '/trading/amm/create-pool', '/connectors/:dex/:type/create-pool'],
    why: 'pools are not made here. Nothing was signed: make the pool by the exchange itself, then open a position in it',
  },
  {
    method: 'GET',
    paths: ['/trading/clmm/fetch-pools', '/connectors/:dex/:type/fetch-pools'],
    why: 'exchanges have no directory of pools here: /pools?search=WETH-USDC finds those of a token or a pair',
  },
]

export const notServedPaths = (): InterfacePath[] =>
  notServed.flatMap(({ method, paths, why }) =>
    paths.map((path) =>
      interfacePath({
        method,
        path,
        summary: 'Refused: not served here.',
        request: Type.Object(path.includes(':dex') ? ofConnector : {}),
        response: Type.Object({}),
        answer() {
          throw new SluiceError('UNSUPPORTED', `${path.split('/').at(-1)} is not served: ${why}.`)
        },
      }),
    ),
  )

export const generationPaths = (): InterfacePath[] =>
  generations.flatMap(({ of, paths }) =>
    paths.flatMap((path) =>
      (['GET', 'POST'] as const).map((method) =>
        interfacePath({
          method,
          path,
          summary: `Refused: it is of ${of}.`,
          request: Type.Object({
            ...(path.includes(':action') && named),
            ...(path.includes(':dex') && { dex: ofConnector.dex }),
            ...(path.includes(':type') && { type: ofConnector.type }),
          }),
          response: Type.Object({}),
          answer() {
            throw new SluiceError(
              'UNSUPPORTED',
              `${path} is of ${of}: this port serves clients of Hummingbot 2.16 and 2.17. Nothing was done.`,
            )
          },
        }),
      ),
    ),
  )
