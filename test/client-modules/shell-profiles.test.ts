import { describe, expect, test } from 'vitest'
import { exportedVariables, shellProfilePaths } from '../../src/clients/checks/shell-profiles.ts'
import { aMachine } from './support.ts'

const names = (path: string, text: string) =>
  exportedVariables(path, text).map(({ name, line }) => `${name}:${line}`)

const tables: readonly (readonly [
  path: string,
  cases: readonly (readonly [string, string[]])[],
])[] = [
  [
    '.zshrc',
    [
      ['export KEY=value', ['KEY:1']],
      ['  export KEY="a b" # mine', ['KEY:1']],
      ["export A=1 KEY='x y' B", ['A:1', 'KEY:1']],
      ['[ -n "$x" ] && export KEY=1', ['KEY:1']],
      ['KEY=1\nexport KEY', ['KEY:1']],
      ['declare -x KEY=1', ['KEY:1']],
      ['typeset -gx KEY=1', ['KEY:1']],
      ['# export KEY=1', []],
      ['echo "export KEY=1"', []],
      ['KEY=1', []],
      ['KEY=1 command', []],
      ['export KEY=', []],
      ['export KEY=""', []],
      ['export KEY=1\nunset KEY', []],
      ['export KEY=1\nKEY=', []],
      ['export KEY=1\nKEY=""', []],
      ['export KEY=1\nKEY=2', ['KEY:2']],
      ['export KEY=\nKEY=1', ['KEY:2']],
      ['export KEY=1\nKEY= command', ['KEY:1']],
      ['export KEY=1\r\nexport OTHER=2\r\n', ['KEY:1', 'OTHER:2']],
      ['export KEY=1; export B=2', ['KEY:1', 'B:1']],
    ],
  ],
  [
    'config.fish',
    [
      ['set -gx KEY value', ['KEY:1']],
      ['set -Ux KEY value', ['KEY:1']],
      ['set --export --global KEY value', ['KEY:1']],
      ['set KEY value', []],
      ['set -gx KEY', []],
      ['set -gx KEY 1\nset -e KEY', []],
      ['export KEY=1', ['KEY:1']],
    ],
  ],
  [
    'profile.ps1',
    [
      ['$env:KEY = "x"', ['KEY:1']],
      ["$Env:KEY='x'", ['KEY:1']],
      ['${env:KEY} = "x"', ['KEY:1']],
      ['[Environment]::SetEnvironmentVariable("KEY", "x", "User")', ['KEY:1']],
      ['$env:KEY = $null', []],
      ['$env:KEY = "x"\nRemove-Item Env:\\KEY', []],
      ['# $env:KEY = "x"', []],
    ],
  ],
  ['/etc/environment', [['KEY=1\nB="x"', ['KEY:1', 'B:2']]]],
]

describe.each(tables)('%s', (path, cases) => {
  test.each(cases)('%j exports %j', (text, expected) => {
    expect(names(path, text)).toEqual(expected)
  })
})

test('the paths of profiles follow ZDOTDIR and XDG_CONFIG_HOME, and differ on Windows', () => {
  const env = { ZDOTDIR: '/home/ada/.zsh', XDG_CONFIG_HOME: '/home/ada/cfg' }
  const paths = shellProfilePaths(aMachine({ env }))
  expect(paths).toContain('/home/ada/.zsh/.zshrc')
  expect(paths).toContain('/home/ada/cfg/fish/config.fish')
  expect(paths).toContain('/home/ada/.bashrc')
  const windows = shellProfilePaths(aMachine({ os: 'win32', home: 'C:\\Users\\Ada' }))
  expect(windows[0]).toBe('C:\\Users\\Ada\\Documents\\PowerShell\\Microsoft.PowerShell_profile.ps1')
})
