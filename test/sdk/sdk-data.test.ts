import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the scripts
import { readSdks, sdkVersions } from '../../scripts/write-sdk-data.js'

const written = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

/** The newest SDKs within the ranges of scripts/install.js, on a machine that installs them for the first time. */
test.each(Object.entries<object>(await readSdks()))(
  '%s says what the official SDKs say (else run scripts/write-sdk-data.js)',
  (path, data) => {
    const { versions, ...rest } = written(path)
    expect(rest).toEqual(data)
    for (const [name, version] of Object.entries<string>(sdkVersions())) {
      const [major] = version.split('.')
      expect([name, versions[name]?.split('.')[0]]).toEqual([name, major])
    }
  },
)
