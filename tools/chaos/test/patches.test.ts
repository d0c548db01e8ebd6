import { expect } from 'chai'
import { applied } from '../servers/compiled-tree.ts'
import { patches } from '../servers/patches.ts'

describe('a server that is changed for chaos', () => {
  for (const name of Object.keys(patches))
    it(`has the text that "${name}" looks for, once`, () => {
      expect(applied([name]).size).to.be.greaterThan(0)
    })
})
