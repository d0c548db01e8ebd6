// The package has types of its whole only.
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}
declare module 'undici/lib/api/api-request.js' {
  import type { Pool } from 'undici'

  const request: Pool['request']
  export default request
}
