import { expect } from 'chai'
import { endpoints, eventsEndpoint } from '../../core/api/index.ts'
import { fieldsReader } from '../../core/config/field-reader.ts'

interface ListSchema {
  type?: string
  items?: { type?: string; enum?: unknown }
}

/** All lists that requests may have, of whatever endpoint. */
const lists = [...endpoints, eventsEndpoint].flatMap(({ path, request }) =>
  Object.entries(request.properties as Record<string, ListSchema>).flatMap(([field, { type, items }]) =>
    type === 'array' ? [{ path, request, field, ofObjects: items?.type === 'object' }] : [],
  ),
)

describe('lists in requests', () => {
  it('hold strings, or objects whose fields are checked one by one', () => {
    expect(lists.length).to.be.greaterThan(10)
    expect(lists.filter(({ ofObjects }) => ofObjects).map(({ field }) => field)).to.include.members(['create', 'cancel'])
  })

  for (const { path, request, field, ofObjects } of lists)
    it(`refuse entries of another type than the schema says: ${field} of ${path}`, () => {
      const read = fieldsReader(request)
      for (const wrong of [[], null, true, ofObjects ? 'text' : {}])
        for (const list of [[wrong], ['WETH', wrong]])
          expect(() => read({ [field]: list }, 'body'), JSON.stringify(list)).to.throw(new RegExp(`${field}: must be`))
      expect(() => read({ [field]: {} }, 'body')).to.throw(new RegExp(`${field}: must be`))
    })
})
