// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

// process are the mutants whose process does not come, go or rest as it should.
var process = []Mutant{
	{
		Name:   "keeps-the-lease",
		Bug:    "a leader that is told to end does not release its lease, so that nobody works until it expires",
		Source: "the default of controller-runtime",
		Plans:  []string{"lifecycle/leader-terminated/DemoMicroService/1"},
		Changes: []Change{
			{"main.go", `LeaderElectionReleaseOnCancel = true`, `LeaderElectionReleaseOnCancel = false`},
		},
	},
	{
		Name:   "stands-by-cold",
		Bug:    "a standby has empty caches, and reads the whole cluster when it takes over",
		Source: "the default of controller-runtime",
		Plans:  []string{"lifecycle/leader-terminated/DemoMicroService/1"},
		Changes: []Change{
			{"controllers/setup.go", `EnableWarmup: new(true)`, `EnableWarmup: new(false)`},
			// The cache warms up by itself, too.
			{"controllers/setup.go", `		NewCache:   observe.NewCache(applications...),
`, ``},
		},
	},
	{
		Name:   "never-rests",
		Bug:    "each turn asks for the next one, though nothing has changed",
		Source: "redpanda-data/redpanda-operator#1750",
		Plans:  []string{"DemoMicroService/create"},
		Quick:  true,
		Changes: []Change{
			{
				fileOutcome,
				`	default:
		return outcome{}
	}
}

// and returns`,
				`	default:
		return outcome{wait: staleRecheck}
	}
}

// and returns`,
			},
		},
	},
}
