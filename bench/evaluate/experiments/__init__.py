"""One file for each experiment. `recording`, `observer` and `causality` run JVMs:

    NAME                            its name in the store
    steps(workload, round, size)    the runs of one workload in one round
    run(runner, step)               one of them: what is to be kept of it

All but `recording` make something of the rows:

    summary(rows, ..)               what goes into results.json
    section(summary)                the same as HTML
"""
