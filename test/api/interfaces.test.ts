import { expect } from 'chai'
import * as api from 'sluice/api'

const capitals: Readonly<Record<string, string>> = { evm: 'EVM', amm: 'AMM', clob: 'CLOB' }
const capitalized = (word: string) => capitals[word] ?? word.charAt(0).toUpperCase() + word.slice(1)

const all: readonly api.Endpoint[] = [...api.endpoints, api.eventsEndpoint]

/** `/network/chain_config` → `NetworkChainConfig`; where one path has several methods, GET has the plain name. */
function nameOf({ path, method }: api.Endpoint): string {
  const words = path.split(/[/_-]/).filter((word) => word !== '')
  const shared = all.filter((each) => each.path === path).length > 1
  if (shared && method !== 'GET') words.push(method.toLowerCase())
  return words.map(capitalized).join('')
}

describe("the package's entry point sluice/api", () => {
  it('has a request and a response interface for every endpoint, named after its URL', () => {
    for (const each of all) {
      const { name, path, request, response } = each
      if (path !== '/') expect(name).to.equal(nameOf(each))
      expect(Reflect.get(api, `${name}Request`), name).to.equal(request)
      expect(Reflect.get(api, `${name}Response`), name).to.equal(response)
    }
  })

  it('exports them as types too', () => {
    const request: api.AMMPriceRequest = { chain: 'a', network: 'b', connector: 'c', base: 'd', quote: 'e', amount: '1', side: 'BUY' }
    // @ts-expect-error -- a side that there is not
    const wrong: api.AMMPriceRequest = { ...request, side: 'HOLD' }
    expect([request.side, wrong.side]).to.deep.equal(['BUY', 'HOLD'])
  })
})
