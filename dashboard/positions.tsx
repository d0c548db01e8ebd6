// Positions: liquidity and whether it is in range, perpetuals and how near they are to liquidation, debts; and orders that are open.
import { Section } from './section.tsx'
import { Table } from './table.tsx'
import { TransactionList } from './transactions.tsx'
import { Address, Amount, Badge, Text } from './text.tsx'
import { usePortfolio, walletsIn, type PlacedWallet } from './wallets.tsx'

type Account = Pick<PlacedWallet['perpetuals'][number], 'accountValue' | 'maintenanceMargin'>

/** How much of what an account has is needed to keep it; from 1 on it is liquidated, also where it has nothing left. A share for people, and no amount. */
export function marginUsed({ accountValue, maintenanceMargin }: Account): number | undefined {
  const [has, needs] = [Number(accountValue), Number(maintenanceMargin)]
  if (has <= 0 && (needs > 0 || has < 0)) return Infinity
  return has > 0 && needs > 0 ? needs / has : undefined
}
export const nearLiquidation = 0.8

type Held = NonNullable<PlacedWallet['perpetuals'][number]['positions']>[number]
/** Of its mark price. */
const nearPrice = 0.05

/** An isolated position ends by its own price, whatever else the account has. Also where it is beyond that price, and has not ended yet. */
export function isNearItsPrice({ side, markPrice, liquidationPrice }: Pick<Held, 'side' | 'markPrice' | 'liquidationPrice'>): boolean {
  const [mark, end] = [Number(markPrice), Number(liquidationPrice)]
  return end > 0 && (side === 'SHORT' ? end - mark : mark - end) < nearPrice * mark
}

const wordsOfHeld = ({ market, side, amount, unrealizedProfit, marginMode, liquidationPrice }: Held): string =>
  `${market} ${side} ${amount}, profit ${unrealizedProfit}, ${marginMode ?? ''}${liquidationPrice === undefined ? '' : `, liquidated at ${liquidationPrice}`}`

export function Positions() {
  const portfolio = usePortfolio()
  return (
    <>
      <Section title="Liquidity" of={portfolio}>
        {(data) => (
          <Table
            caption="Positions of liquidity"
            none="None."
            rows={walletsIn(data).flatMap((wallet) => wallet.liquidity.map((each) => ({ ...each, wallet })))}
            keyOf={({ connector, version, tokenId, wallet }) => `${wallet.chain}/${wallet.network} ${connector} ${version} ${tokenId}`}
            columns={[
              { name: 'Position', cell: ({ connector, tokenId }) => <Text of={`${connector} ${tokenId}`} /> },
              { name: 'Wallet', cell: ({ wallet }) => <Address of={wallet.address} /> },
              {
                name: 'Range',
                cell: ({ inRange }) => (inRange ? <Badge tone="good">in range</Badge> : <Badge tone="warn">out of range</Badge>),
              },
              { name: 'Holds', end: true, cell: (row) => <Pair of={[row.amount0, row.token0, row.amount1, row.token1]} /> },
              { name: 'Fees', end: true, cell: (row) => <Pair of={[row.unclaimedToken0, row.token0, row.unclaimedToken1, row.token1]} /> },
              { name: 'Value', end: true, cell: ({ value, wallet }) => <Amount of={value} unit={wallet.reference} /> },
            ]}
          />
        )}
      </Section>
      <Section title="Perpetuals and margin" of={portfolio}>
        {(data) => (
          <Table
            caption="Accounts of perpetuals and margin"
            none="None."
            rows={walletsIn(data).flatMap((wallet) => [
              ...wallet.perpetuals.map((each) => ({
                wallet,
                connector: each.connector,
                kind: 'perpetuals',
                unit: each.unit,
                value: each.accountValue,
                used: marginUsed(each),
                held: each.positions ?? [],
                note: '',
              })),
              ...wallet.margin.map((each) => ({
                wallet,
                connector: each.connector,
                kind: each.mode,
                unit: undefined,
                value: each.equity,
                used: marginUsed({ accountValue: each.equity, maintenanceMargin: each.maintenanceMargin }),
                held: [],
                note: each.debts.map(({ symbol, borrowed }) => `owes ${borrowed} ${symbol}`).join('; '),
              })),
            ])}
            keyOf={({ wallet, connector, kind }) => `${wallet.chain}/${wallet.network} ${wallet.address} ${connector} ${kind}`}
            columns={[
              { name: 'Account', cell: ({ connector, kind }) => <Text of={`${connector} ${kind}`} /> },
              { name: 'Wallet', cell: ({ wallet }) => <Address of={wallet.address} /> },
              { name: 'Value', end: true, cell: ({ value, unit }) => <Amount of={value} unit={unit} /> },
              { name: 'Margin', cell: ({ used }) => <Margin used={used} /> },
              { name: 'Has', cell: (row) => <Holds of={row} /> },
            ]}
          />
        )}
      </Section>
      <TransactionList title="Orders" filter={{ kind: 'order' }} />
    </>
  )
}

const Pair = ({ of: [amount0, token0, amount1, token1] }: { of: readonly [string, string, string, string] }) => (
  <>
    <Amount of={amount0} unit={token0} />
    <br />
    <Amount of={amount1} unit={token1} />
  </>
)

const Holds = ({ of: { held, note } }: { of: { readonly held: readonly Held[]; readonly note: string } }) => (
  <>
    {held.map((each) => (
      <div>
        {isNearItsPrice(each) && <Badge tone="bad">near liquidation</Badge>} <Text of={wordsOfHeld(each)} />
      </div>
    ))}
    <Text of={note} />
  </>
)

const Margin = ({ used }: { used: number | undefined }) =>
  used === undefined ? (
    <>–</>
  ) : (
    <Badge tone={used >= nearLiquidation ? 'bad' : 'good'}>
      {used === Infinity ? 'nothing is left' : `${Math.round(used * 100)} % needed`}
    </Badge>
  )
