// The files of ops/ for Prometheus, Grafana and systemd: their form, and that every metric and label that they name is there.
import { expect } from 'chai'
import { collectDefaultMetrics, Registry } from 'prom-client'
import * as Type from 'typebox'
import * as Value from 'typebox/value'
import { parse } from 'yaml'
import { shownMetrics } from '../../tools/docs/tables.ts'
import { readPage } from './page.ts'

const closed = { additionalProperties: false }
// https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/
const Rule = Type.Object(
  {
    alert: Type.String({ pattern: '^Sluice[A-Za-z]+$' }),
    expr: Type.String({ minLength: 1 }),
    for: Type.Optional(Type.String({ pattern: '^[0-9]+[smhd]$' })),
    labels: Type.Optional(Type.Record(Type.String(), Type.String())),
    annotations: Type.Object({ summary: Type.String({ minLength: 10 }) }, closed),
  },
  closed,
)
const RuleFile = Type.Object(
  { groups: Type.Array(Type.Object({ name: Type.String(), rules: Type.Array(Rule, { minItems: 1 }) }, closed), { minItems: 1 }) },
  closed,
)
// https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/
const Target = Type.Object({ refId: Type.String(), expr: Type.String({ minLength: 1 }), legendFormat: Type.String() })
const Panel = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  type: Type.Enum(['row', 'stat', 'timeseries']),
  title: Type.String({ minLength: 1 }),
  gridPos: Type.Object({
    x: Type.Integer({ minimum: 0, maximum: 23 }),
    y: Type.Integer({ minimum: 0 }),
    w: Type.Integer({ minimum: 1, maximum: 24 }),
    h: Type.Integer({ minimum: 1 }),
  }),
  targets: Type.Optional(Type.Array(Target, { minItems: 1 })),
})
const Dashboard = Type.Object({
  title: Type.Literal('Sluice'),
  uid: Type.String({ minLength: 1, maxLength: 40 }),
  schemaVersion: Type.Integer({ minimum: 36 }),
  panels: Type.Array(Panel, { minItems: 1 }),
})

/** What every scrape has, and what Prometheus itself adds. */
const ofPrometheus = { metrics: ['up'], labels: ['job', 'instance', 'le'] }

describe('the files for Prometheus, Grafana and systemd', () => {
  /** Metrics, of histograms their parts too, with their labels. */
  const known = new Map<string, readonly string[]>()

  before(async () => {
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    for (const { name } of await registry.getMetricsAsJSON()) known.set(name, [])
    registry.clear()
    for (const name of ofPrometheus.metrics) known.set(name, [])
    for (const { name, labels } of shownMetrics()) for (const end of ['', '_bucket', '_count', '_sum']) known.set(`${name}${end}`, labels)
  })

  const unknownIn = (expr: string): readonly string[] => {
    const names = expr.match(/\b(?:sluice|process|nodejs)_\w+|\bup\b/g) ?? []
    const labels = new Set([...ofPrometheus.labels, ...names.flatMap((name) => known.get(name) ?? [])])
    const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(',').map((each) => each.trim()))
    const matched = [...expr.matchAll(/(\w+)(?:=~|!=|=)"/g)].map(([, label = '']) => label)
    return [...names.filter((name) => !known.has(name)), ...[...grouped, ...matched].filter((label) => !labels.has(label))]
  }

  it('the rules have the form of rules, other names each, and metrics and labels that are there', async () => {
    const file: unknown = parse(await readPage('ops/prometheus-rules.yml'))
    expect([...Value.Errors(RuleFile, file)]).to.deep.equal([])
    const rules = Value.Parse(RuleFile, file).groups.flatMap((group) => group.rules)
    expect(new Set(rules.map(({ alert }) => alert)).size).to.equal(rules.length)
    for (const { alert, expr } of rules) expect(unknownIn(expr), alert).to.deep.equal([])
  })

  it('the dashboard has the form of a dashboard, panels beside one another, and metrics and labels that are there', async () => {
    const file: unknown = JSON.parse(await readPage('ops/grafana-dashboard.json'))
    expect([...Value.Errors(Dashboard, file)]).to.deep.equal([])
    const { panels } = Value.Parse(Dashboard, file)
    expect(new Set(panels.map(({ id }) => id)).size).to.equal(panels.length)
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
    )
    expect(new Set(cells).size, 'panels overlap').to.equal(cells.length)
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).to.deep.equal([])
    for (const { title, targets = [] } of panels) {
      for (const { expr, legendFormat } of targets) {
        expect(unknownIn(expr), title).to.deep.equal([])
        const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
        const has = expr.includes(' by (') ? (/ by \(([^)]*)\)/.exec(expr)?.[1] ?? '').split(', ') : ofPrometheus.labels
        expect(
          shown.filter((label) => !has.includes(label)),
          title,
        ).to.deep.equal([])
      }
    }
  })

  it('each unit of systemd starts with the system once it is enabled, and may not get more rights', async () => {
    for (const name of ['sluice', 'sluice-signer']) {
      const unit = await readPage(`ops/${name}.service`)
      expect(unit, name).to.match(/^\[Install\]\nWantedBy=multi-user\.target$/m)
      for (const line of ['NoNewPrivileges=yes', 'LimitCORE=0', 'ProtectSystem=strict']) expect(unit, name).to.include(`\n${line}\n`)
    }
  })

  it('a metric, a label and a label of another metric that are not there are found', () => {
    expect(unknownIn('sluice_no_such_metric')).to.deep.equal(['sluice_no_such_metric'])
    expect(unknownIn('sum by (token) (sluice_store_up)')).to.deep.equal(['token'])
    expect(unknownIn('max(sluice_approvals{mode="waiting"})')).to.deep.equal(['mode'])
  })
})
