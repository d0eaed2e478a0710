//! The driver: what is found, what is refused, and what a device does when things go wrong.

use std::process::Command;

use bellwether_core::device::{Backend, Detail, Device, DeviceError, DeviceInfo};
use bellwether_core::driver::Driver;
use bellwether_shaders::Tier;
use bellwether_wgpu::{PipelineCachePlace, WgpuDevice, WgpuDriver, WgpuOptions};
use blstrs::Scalar;
use pollster::block_on;

fn options() -> WgpuOptions {
    WgpuOptions { cache: PipelineCachePlace::Off, ..WgpuOptions::default() }
}

fn open(options: WgpuOptions) -> WgpuDevice {
    WgpuDriver::with_options(options)
        .open_device(0)
        .expect("an adapter: install mesa-vulkan-drivers and libvulkan1")
}

#[test]
fn adapters_have_an_order() {
    let driver = WgpuDriver::default();
    let infos = driver.probe().expect("an adapter: install mesa-vulkan-drivers and libvulkan1");
    let facts = |info: &DeviceInfo| (info.ordinal, info.name.clone(), info.driver.clone(), info.software);
    let first: Vec<_> = infos.iter().map(facts).collect();
    let second: Vec<_> = driver.probe().unwrap().iter().map(facts).collect();
    assert_eq!(first, second);
    assert!(infos.iter().enumerate().all(|(i, info)| info.ordinal == i && info.backend == Backend::Wgpu));
    assert!(infos.is_sorted_by_key(|info| info.software), "what computes in software comes last");
    let descriptions = driver.adapters().unwrap();
    assert_eq!(descriptions.len(), infos.len());
    for (description, info) in descriptions.into_iter().flatten().zip(&infos) {
        assert_eq!((&description.name, &description.driver), (&info.name, &info.driver));
    }
}

#[test]
fn an_ordinal_too_large_is_refused() {
    let error = WgpuDriver::default().open(1000).map(drop).unwrap_err();
    assert!(error.to_string().starts_with("wgpu:1000 is not supported"), "{error}");
}

#[test]
fn the_tier_can_be_chosen() {
    let device = open(WgpuOptions { tier: Some(Tier::U32), max_binding: Some((1 << 20) + 1), ..options() });
    assert_eq!((device.adapter().tier, device.adapter().max_binding), (Tier::U32, 1 << 20));
}

#[test]
fn a_binding_too_small_for_tables_is_refused() {
    let driver = |bound| WgpuDriver::with_options(WgpuOptions { max_binding: Some(bound), ..options() });
    let refused = |error: DeviceError| {
        let error = error.to_string();
        assert!(error.contains("262143 bytes") && error.contains("262144 bytes"), "{error}");
    };
    let small = driver((256 << 10) - 1);
    refused(small.open(0).map(drop).unwrap_err());
    small.adapters().unwrap().into_iter().for_each(|adapter| refused(adapter.unwrap_err()));
    assert!(driver(256 << 10).open(0).is_ok());
}

/// Where a device has compiled its programs when it is open, it says so.
#[test]
fn a_device_tells_of_its_pipelines() {
    let device = open(options());
    let told = device.info().details.iter().find(|(name, _)| *name == "pipelines");
    let Some((_, Detail::Text(told))) = told else { panic!("{:?}", device.info()) };
    match device.info().software {
        true => assert_eq!(told, "compiled at first use"),
        false => assert!(told.contains(" compiled in "), "{told}"),
    }
}

/// In a process of its own, where the loader finds no driver.
#[test]
#[cfg(target_os = "linux")]
fn without_a_driver_there_is_a_reason() {
    const CHILD: &str = "BELLWETHER_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let error = WgpuDriver::default().probe().unwrap_err();
        assert!(matches!(error, DeviceError::NoDriver { found: None, .. }), "{error}");
        assert!(matches!(WgpuDriver::default().open(0).map(drop), Err(DeviceError::NoDriver { .. })));
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "without_a_driver_there_is_a_reason"])
        .env(CHILD, "1")
        .env("VK_DRIVER_FILES", "/nonexistent.json")
        .env("VK_ICD_FILENAMES", "/nonexistent.json")
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && output.contains("1 passed"), "{output}");
}

#[test]
fn compiled_pipelines_are_kept() {
    let directory = std::env::temp_dir().join(format!("bellwether-pipelines-{}", std::process::id()));
    let options = WgpuOptions { cache: PipelineCachePlace::Directory(directory.clone()), ..options() };
    let device = open(options.clone());
    let has_cache = device.adapter().pipeline_cache;
    let cold = device.start_up().unwrap();
    assert!(cold.pipelines > 20 && !cold.cached);
    assert_eq!(device.start_up().unwrap(), cold, "once");
    assert_eq!(open(options).start_up().unwrap().cached, has_cache);
    let _ = std::fs::remove_dir_all(directory);
}

#[test]
fn a_failed_allocation_leaves_the_device_usable() {
    let device = open(options());
    let values = [Scalar::from(3); 10];
    device.testing().fail_allocation(1);
    let error = device.upload(&values, 10).map(drop).unwrap_err();
    assert!(matches!(error, DeviceError::OutOfMemory { .. }), "{error}");
    let vector = device.upload(&values, 10).unwrap();
    assert_eq!(block_on(device.download(&vector)).unwrap()[..], values);
}

#[test]
fn an_injected_fault_is_reported_once() {
    let device = open(options());
    let values = [Scalar::from(3); 10];
    let vector = device.upload(&values, 10).unwrap();
    let fault = DeviceError::Launch { operation: "test".into(), reason: "on purpose".into() };
    device.testing().inject_fault(fault.clone());
    assert_eq!(block_on(device.download(&vector)).map(drop), Err(fault));
    assert_eq!(block_on(device.download(&vector)).unwrap()[..], values);
}

#[test]
fn a_lost_device_says_so() {
    let device = open(options());
    let vector = device.upload(&[Scalar::from(3); 10], 10).unwrap();
    device.testing().lose_device();
    let lost = |error: DeviceError| matches!(error, DeviceError::DeviceLost { .. });
    assert!(device.upload(&[], 10).is_err_and(lost));
    assert!(block_on(device.download(&vector)).is_err_and(lost));
    assert!(device.mark().is_err_and(lost));
}

#[test]
fn marks_are_in_order() {
    let device = open(options());
    let first = device.mark().unwrap();
    drop(device.upload(&[Scalar::from(3); 10_000], 10_000).unwrap());
    let second = device.mark().unwrap();
    let elapsed = block_on(device.elapsed(&first, &second)).unwrap();
    assert!(elapsed.as_secs() < 60, "{elapsed:?}");
    assert!(block_on(device.elapsed(&second, &first)).unwrap().is_zero());
}
