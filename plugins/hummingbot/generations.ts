// Paths of other generations of the clients. Each is refused by a text that says which it is: "not found" sends people looking for a wrong address.
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
    paths: ['quote-swap', 'execute-swap'].map((action) => `/connectors/:dex/:type/${action}`),
  },
]

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
