import type { CompletedCommand, CompletedFlag, FlagValue } from './words.ts'

/** For Windows PowerShell 5.1 and PowerShell 7. */
export function powershellScript(
  commands: readonly CompletedCommand[],
  ownFlags: readonly CompletedFlag[],
): string {
  return `# repoint completion for PowerShell.
# Load it with: repoint completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName repoint -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $commands = [ordered]@{
${[{ name: '', flags: ownFlags, values: commands.map(({ name }) => name) }, ...commands].map(asEntry).join('\n')}
  }
  $typed = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
    Select-Object -Skip 1 | ForEach-Object { $_.Extent.Text })
  $name = @($typed | Where-Object { $_ -notlike '-*' }) | Select-Object -First 1
  if ($null -eq $name -or -not $commands.Contains($name)) { $name = '' }
  $flag = $typed | Select-Object -Last 1
  $takes = if ($null -ne $flag) { $commands[$name].Flags[$flag] }
  $offered = if ($null -eq $takes -or $takes -eq 'nothing') {
    @($commands[$name].Flags.Keys) + $commands[$name].Values
  } elseif ($takes -eq 'model') {
    & $commandAst.CommandElements[0].Extent.Text remembered-models 2> $null
  } elseif ($takes -eq 'variable') {
    (Get-ChildItem Env:).Name
  } elseif ($takes -eq 'file') {
    Get-ChildItem -Path "$wordToComplete*" -Name
  } elseif ($takes -ne 'text') {
    $takes -split ' '
  }
  $offered | Where-Object { $_ -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`
}

function asEntry({ name, flags, values }: Omit<CompletedCommand, 'description'>): string {
  const pairs = flags.map((flag) => `${quoted(flag.name)} = ${quoted(described(flag.takes))}`)
  return `    ${quoted(name)} = @{ Flags = [ordered]@{ ${pairs.join('; ')} }; Values = @(${values.map(quoted).join(', ')}) }`
}

function described(takes: FlagValue): string {
  return takes.kind === 'choice' ? takes.choices.join(' ') : takes.kind
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
