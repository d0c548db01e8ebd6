import { expect } from 'chai'
import { changesOfDocument, changesOfReport } from '../../tools/interface/changes.ts'

const report = (...declarations: string[]) =>
  `## API Report\n\n\`\`\`ts\n\n${declarations.map((each) => `// @public\n${each}\n`).join('\n')}\n\`\`\`\n`

describe('changes of the public interface', () => {
  const chain = 'export interface Chain {\n    // (undocumented)\n    readonly confirmations: number;\n}'

  it('that add an export or an optional member break nobody', () => {
    const after = report(chain.replace('\n}', '\n    tokens?(at: At): Promise<Token[]>;\n}'), 'export const version: string;')
    expect(changesOfReport(report(chain), after)).to.deep.equal({
      breaking: [],
      compatible: ['+ Chain: tokens?(at: At): Promise<Token[]>;', '+ version'],
    })
  })

  it('that remove, change or require something break', () => {
    const before = report(chain, 'export const version: string;')
    const after = report(chain.replace('number;', 'bigint;').replace('\n}', '\n    head(): Head;\n}'))
    expect(changesOfReport(before, after)).to.deep.equal({
      breaking: [
        '- Chain: readonly confirmations: number;',
        '+ Chain: readonly confirmations: bigint;',
        '+ Chain: head(): Head;',
        '- version',
      ],
      compatible: [],
    })
  })

  it('break nobody where members move to a type that is extended, and exported beside', () => {
    const pool = 'export interface Pool extends Life {\n    readonly fee: string;\n    read(): Call;\n}'
    const parted = 'export interface Pool extends PoolMath, Life {\n    read(): Call;\n}'
    const base = (member: string) => `export interface PoolMath {\n    ${member}\n}`
    expect(changesOfReport(report(pool), report(parted, base('readonly fee: string;')))).to.deep.equal({
      breaking: [],
      compatible: ['+ PoolMath'],
    })
    expect(changesOfReport(report(pool), report(parted, base('readonly fee: bigint;'))).breaking).to.deep.equal([
      '- Pool: readonly fee: string;',
      '+ Pool: readonly fee: bigint;',
    ])
    // Its members cannot be seen.
    expect(changesOfReport(report(pool), report(parted)).breaking).to.have.length(3)
  })

  it('of words alone are none', () => {
    expect(changesOfReport(report(chain), report(chain.replace('(undocumented)', 'How many blocks.')))).to.deep.equal({
      breaking: [],
      compatible: [],
    })
  })

  const document = (schema: object) => JSON.stringify({ paths: { '/x': { get: { schema } } } })
  const price = { required: ['price'], properties: { price: { type: 'string', description: 'A price.' } } }

  it('of an endpoint that take a field away, or ask for one, break', () => {
    expect(changesOfDocument(document(price), document({ required: [], properties: {} })).breaking).to.deep.equal([
      '- /paths/~1x/get/schema/properties/price',
    ])
    const more = { required: ['price', 'side'], properties: { ...price.properties, side: { type: 'string' } } }
    expect(changesOfDocument(document(price), document(more))).to.deep.equal({
      breaking: ['+ /paths/~1x/get/schema/required: "side"'],
      compatible: ['+ /paths/~1x/get/schema/properties/side'],
    })
  })

  it('of parameters are found by their names', () => {
    const parameters = (...all: object[]) => JSON.stringify({ parameters: all })
    const [side, amount] = [
      { name: 'side', required: false, schema: { type: 'string' } },
      { name: 'amount', required: true, schema: { type: 'string' } },
    ]
    expect(changesOfDocument(parameters(side, amount), parameters(amount, side))).to.deep.equal({ breaking: [], compatible: [] })
    expect(changesOfDocument(parameters(side), parameters({ ...side, required: true })).breaking).to.deep.equal([
      '/parameters/side/required: false → true',
    ])
    expect(changesOfDocument(parameters(amount), parameters({ ...amount, required: false })).breaking).to.deep.equal([])
  })

  it('of an endpoint that describe it in other words do not', () => {
    const other = { ...price, properties: { price: { type: 'string', description: 'The price.' } } }
    expect(changesOfDocument(document(price), document(other)).breaking).to.deep.equal([])
    expect(changesOfDocument(document(price), document({ ...price, properties: { price: { type: 'number' } } })).breaking).to.deep.equal([
      '/paths/~1x/get/schema/properties/price/type: "string" → "number"',
    ])
  })
})
