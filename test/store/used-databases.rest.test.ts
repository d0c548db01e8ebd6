// What tests leave in a database that the next one gets.
import { expect } from 'chai'
import { isPostgresInstalled } from './postgres.ts'
import { sharedPostgres } from './stores.ts'
import { usedDatabases } from './used-databases.ts'

describe('a database that a test has left', () => {
  const made = `create table counted (id bigint generated always as identity primary key, body bytea);
    create table counting (id bigint references counted); insert into counted (body) values ('\\x00ff')`
  const rows = `select (select json_agg(counted)::text from counted) as counted, (select count(*)::integer from counting) as counting`

  before(function () {
    if (!isPostgresInstalled) this.skip()
  })

  it('is given again without the rows of that test, and counts from where the template does', async () => {
    const postgres = await sharedPostgres()
    const template = await postgres.database()
    await postgres.query(made, template)
    const used = await usedDatabases(postgres, template)
    const first = await used.take()
    await postgres.query(`update counted set body = null; insert into counted (body) values (null); insert into counting values (2)`, first)
    used.giveBack(first)
    expect(await used.take()).to.equal(first)
    expect(await postgres.query(rows, first)).to.deep.equal(await postgres.query(rows, template))
    expect(await postgres.query('insert into counted (body) values (null) returning id::integer', first)).to.deep.equal([{ id: 2 }])
  })

  for (const [what, statement] of [
    ['a table more', 'create table another (id bigint)'],
    ['a column of another type', 'alter table counted alter column body type text using null'],
    ['an index fewer', 'alter table counted drop constraint counted_pkey cascade'],
    ['a trigger more', 'create trigger kept before update on counted for each row execute function suppress_redundant_updates_trigger()'],
    ['what the planner was told', 'analyze'],
    ['room for many rows', `insert into counted (body) select '\\x00' from generate_series(1, 20000)`],
  ] as const)
    it(`is not given again where it has ${what}`, async () => {
      const postgres = await sharedPostgres()
      const template = await postgres.database()
      await postgres.query(made, template)
      const used = await usedDatabases(postgres, template)
      const first = await used.take()
      await postgres.query(statement, first)
      used.giveBack(first)
      expect(await used.take()).to.not.equal(first)
    })
})
