// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

// restartName is the scenario whose requests at the start of the operator meet faults.
const restartName = "restart"

// operation are the scenarios in which the operator itself is restarted and upgraded.
func operation(s subject) []Scenario {
	change := func(image string) Step { return edit(s.kind, orders, `{"spec":{"image":"`+image+`"}}`, nil) }
	return []Scenario{
		{
			Kind: s.kind, Name: restartName, Before: []Step{s.created()},
			Steps: []Step{
				restart(false, s.runsAll(image1, 1)),
				together("change the image", s.runsAll(image2, 1), change(image2)),
			},
		},
		{
			Kind: s.kind, Name: "upgrade", Before: []Step{s.created()},
			Steps: []Step{
				together("change the image and upgrade at once", all(s.runsAll(image2, 1), rolledOut(orders, 2)), change(image2), restart(true, nil)),
				together("change the image and downgrade at once", all(s.runsAll(image3, 1), rolledOut(orders, 3)), change(image3), restart(false, nil)),
			},
		},
	}
}
