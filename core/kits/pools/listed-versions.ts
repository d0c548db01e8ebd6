/** The labels under `versions` of a connector's configuration; undefined where it has none. */
export function listedVersions(config: unknown): readonly string[] | undefined {
  if (typeof config !== 'object' || config === null || !('versions' in config)) return undefined
  const { versions } = config
  return typeof versions === 'object' && versions !== null ? Object.keys(versions) : undefined
}
