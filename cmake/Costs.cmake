# Suites that take long, and about how many seconds of two busy cores in the slower of the two builds: what
# takes longest begins first, even if CTest has not measured anything yet. It passes over the suites
# that a program does not have. A suite of ten seconds and more belongs here.
foreach(suite_seconds IN ITEMS
    "JobFieldsToTry 100" "OwnChoice 130" "OpenclNetworks 85" "JobFields 60" "Moilctl 43" "Jobs 40" "Selection 38"
    "ResidentPages 36" "ElasticTrainer 32" "ProcessorNights 30" "RandomNetworksTest 26" "Room 24" "SwapTest 23"
    "ConvKernelsWorkspace 23" "InferencePlanTest 22" "MemoryFitTest 20" "NetworkParity 17" "PlannerTest 15"
    "ConvKernelsLarge 15" "InboxTest 12" "CanaryTest 12" "NightMemoryTest 11" "JobResults 11" "FeatureSourceTest 11"
    "Moild 10" "SelectionProblem 10")
  string(REPLACE " " ";" suite_seconds "${suite_seconds}")
  list(GET suite_seconds 0 suite)
  list(GET suite_seconds 1 seconds)
  set_tests_properties(${suite} PROPERTIES COST ${seconds})
endforeach()
