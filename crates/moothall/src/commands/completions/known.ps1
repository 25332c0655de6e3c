    # Names that only the server knows; without it there are none.
    $typed = @($commandElements | ForEach-Object { $_.Extent.Text })
    if ($wordToComplete -eq '') { $typed += '' }
    # An empty argument is lost on its way to the program, so its quotes stand for it.
    $asked = @($typed | ForEach-Object { if ($_ -eq '') { "''" } else { $_ } })
    $found = @(& $typed[0] complete '--' @asked 2>$null)
    if ($found.Count) {
        $completions = @($found | ForEach-Object {
            $name = if ($_ -match '^[\w.:@/-]+$') { $_ } else { "'" + $_.Replace("'", "''") + "'" }
            [CompletionResult]::new($name, $_, [CompletionResultType]::ParameterValue, $_)
        })
        return $completions
    }

