import fc from 'fast-check'

// The seed is fixed, so that a test fails because of a change and not by chance. To search for new failures, run with
// REPOINT_PROPERTY_SEED=$RANDOM REPOINT_PROPERTY_RUNS=50000.
fc.configureGlobal({ seed: Number(process.env['REPOINT_PROPERTY_SEED'] ?? 1) })

export { fc }
