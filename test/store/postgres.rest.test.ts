import { expect } from 'chai'
import { isPostgresInstalled, startPostgres } from './postgres.ts'

describe('the temporary PostgreSQL of the tests', () => {
  before(function () {
    if (!isPostgresInstalled) this.skip()
  })

  it('keeps commits through kill and restart, hangs when paused, and separates databases', async () => {
    const postgres = await startPostgres()
    try {
      const url = await postgres.database()
      await postgres.query('create table t (n int); insert into t values (7)', url)
      await postgres.kill()
      expect(await postgres.query('select 1').catch((error: Error) => 'code' in error && error.code)).to.equal('ECONNREFUSED')
      await postgres.restart()
      expect(await postgres.query('select n from t', url)).to.deep.equal([{ n: 7 }])

      await postgres.pause()
      const asked = postgres.query('select n from t', url)
      let answered = false
      void asked.then(() => (answered = true))
      await new Promise((resolve) => setTimeout(resolve, 200))
      expect(answered).to.equal(false)
      await postgres.resume()
      expect(await asked).to.deep.equal([{ n: 7 }])
      expect(await postgres.query("select to_regclass('t') as t", await postgres.database())).to.deep.equal([{ t: null }])
    } finally {
      await postgres.stop()
    }
  })
})
