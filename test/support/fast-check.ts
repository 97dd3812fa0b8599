import fc from 'fast-check'

// One seed, so that a red run says something about the change at hand and not about its luck. To look
// for what nobody has met yet: REPOINT_PROPERTY_SEED=$RANDOM REPOINT_PROPERTY_RUNS=50000.
fc.configureGlobal({ seed: Number(process.env['REPOINT_PROPERTY_SEED'] ?? 1) })

export { fc }
