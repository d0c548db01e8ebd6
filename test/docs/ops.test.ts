// The files of ops/ for Prometheus, Grafana and systemd: their form, and that every metric and label that they name is there.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { collectDefaultMetrics, Registry } from 'prom-client'
import * as Type from 'typebox'
import { parse } from 'yaml'
import { shownMetrics } from '../../tools/docs/tables.ts'
import { checked } from '../schema.ts'
import { readPage, root } from './page.ts'

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
    const file = checked(RuleFile, parse(await readPage('ops/prometheus-rules.yml')))
    const rules = file.groups.flatMap((group) => group.rules)
    expect(new Set(rules.map(({ alert }) => alert)).size).to.equal(rules.length)
    for (const { alert, expr } of rules) expect(unknownIn(expr), alert).to.deep.equal([])
  })

  it('the dashboard has the form of a dashboard, panels beside one another, and metrics and labels that are there', async () => {
    const { panels } = checked(Dashboard, JSON.parse(await readPage('ops/grafana-dashboard.json')))
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

  /** Labels that do not tell one thing from another without those of its place. Of a metric that has no place they do. */
  const ofPlaces = ['network', 'connector', 'node', 'token']

  /** Groupings of an expression that make one line of several things: Ethereum and Base have a network of one name. */
  const mixedIn = (expr: string): readonly string[] => {
    const names = expr.match(/\bsluice_\w+/g) ?? []
    const places = ['chain', 'network'].filter((label) => names.some((name) => known.get(name)?.includes(label)))
    return [...expr.matchAll(/\b(?:by|on|group_left|group_right) ?\(([^)]*)\)/g)].flatMap(([grouping, list = '']) => {
      const labels = list.split(',').map((each) => each.trim())
      return labels.some((label) => ofPlaces.includes(label)) && !places.every((label) => labels.includes(label)) ? [grouping] : []
    })
  }
  /** Of what a line is named after, what its name does not show. */
  const unshownIn = (expr: string, legend: string): readonly string[] => {
    const labels = (/\bby \(([^)]*)\)/.exec(expr)?.[1] ?? '').split(',').map((each) => each.trim())
    const isSummedUp = /^(?:sum|min|max|count) ?\(/.test(expr)
    return isSummedUp ? [] : labels.filter((label) => !['', 'le'].includes(label) && !legend.includes(`{{${label}}}`))
  }
  /** Every expression of every file, whatever it is in. */
  const expressionsIn = (value: unknown): readonly { expr: string; legend: string | undefined }[] => {
    if (typeof value !== 'object' || value === null) return []
    const { expr, legendFormat } = value as { expr?: unknown; legendFormat?: unknown }
    const own = typeof expr === 'string' ? [{ expr, legend: typeof legendFormat === 'string' ? legendFormat : undefined }] : []
    return [...own, ...Object.values(value).flatMap(expressionsIn)]
  }

  it('no expression makes one line of networks of several chains, and each line is named after all that it is of', async () => {
    const names = readdirSync(path.join(root, 'ops')).filter((name) => /\.(?:ya?ml|json)$/.test(name))
    const all = await Promise.all(names.map(async (name) => ({ name, found: expressionsIn(parse(await readPage(`ops/${name}`))) })))
    expect(all.every(({ found }) => found.length > 0)).to.equal(true)
    for (const { name, found } of all)
      for (const { expr, legend } of found) {
        expect(mixedIn(expr), `${name}: ${expr}`).to.deep.equal([])
        if (legend !== undefined) expect(unshownIn(expr, legend), `${name}: ${expr}`).to.deep.equal([])
      }
    expect(mixedIn('sum by (network) (sluice_transactions_open)')).to.have.length(1)
    expect(mixedIn('sum by(connector) (sluice_quotes_total)')).to.have.length(1)
    expect(mixedIn('max by (chain, network, state) (sluice_node_state) * on (network, node) sluice_node_in_use')).to.have.length(1)
    expect(mixedIn('sum by (connector) (sluice_request_seconds_count)')).to.deep.equal([])
    expect(unshownIn('sum by (chain, network) (sluice_transactions_open)', '{{network}}')).to.deep.equal(['chain'])
  })

  it('a metric, a label and a label of another metric that are not there are found', () => {
    expect(unknownIn('sluice_no_such_metric')).to.deep.equal(['sluice_no_such_metric'])
    expect(unknownIn('sum by (token) (sluice_store_up)')).to.deep.equal(['token'])
    expect(unknownIn('max(sluice_approvals{mode="waiting"})')).to.deep.equal(['mode'])
  })
})
